import { describe, expect, test, vi } from 'vitest';
import { StoreUnavailableError } from '../../src/ephemeral/store.ts';
import { readAnswer } from '../setup/graphql-client.ts';
import { forFile, useServer } from '../setup/use-world.ts';
import { CreateApplicationDocument, MeDocument } from './generated/graphql.ts';
import { createGraphqlWorld, expectBadRequest, expectRefused, noLimits, whoAmI } from './support.ts';

const server = useServer({ env: noLimits });
const world = forFile(() => createGraphqlWorld(server));

/** The service answers as before. */
const stillServes = async () => expect(await whoAmI(world.graphql)).toBe(world.developer.id);

describe('variables of the wrong type', () => {
  const mint = 'mutation ($input: CreateLicensesInput!) { createLicenses(input: $input) { warning } }';
  const create =
    'mutation ($input: CreateApplicationInput!) { createApplication(input: $input) { sdkHint { appId } } }';
  const update =
    'mutation ($input: UpdateApplicationSettingsInput!) { updateApplicationSettings(input: $input) { application { id } } }';
  const license = { applicationId: 'x', amount: 1, durationSeconds: 0 };
  test.each<[string, string, unknown]>([
    ['text for an integer', mint, { input: { ...license, amount: '1' } }],
    ['a fraction for an integer', mint, { input: { ...license, amount: 1.5 } }],
    ['an integer beyond 32 bits', mint, { input: { ...license, durationSeconds: 2 ** 31 } }],
    ['an integer beyond 64 bits', mint, { input: { ...license, subscriptionTier: 1e300 } }],
    ['null for what is required', create, { input: { name: null } }],
    ['nothing for what is required', create, { input: {} }],
    ['no variable', create, {}],
    ['a field that does not exist', create, { input: { name: 'x', developerId: 'y' } }],
    ['__proto__', create, JSON.parse('{"input":{"name":"x","__proto__":{"version":"2"}}}')],
    ['an object for text', create, { input: { name: { $ne: '' } } }],
    ['a list for text', create, { input: { name: ['x'] } }],
    ['a list for an input', create, { input: [{ name: 'x' }, { name: 'y' }] }],
    ['an unknown enum value', update, { input: { id: 'x', status: 'broken' } }],
    ['text for a boolean', update, { input: { id: 'x', hwidLockEnabled: 'false' } }],
    [
      'a key that cannot be edited',
      update,
      { input: { id: 'x', responseMessages: [{ key: 'NOPE', text: 'a' }] } },
    ],
    ['null in a list', update, { input: { id: 'x', responseMessages: [null] } }],
  ])('%s: nothing is executed', async (_what, query, variables) => {
    expectBadRequest(await world.graphql.ask(query, variables), 'BAD_REQUEST');
  });
});

describe('malformed requests', () => {
  test.each<[string, unknown]>([
    ['malformed JSON', '{"query":'],
    ['nothing', ''],
    ['null', 'null'],
    ['text', '"{ me { id } }"'],
    ['a number', '5'],
    ['a batch', [{ query: '{ __typename }' }]],
    ['an empty batch', []],
    ['a query that is a number', { query: 5 }],
    ['a query that is an object', { query: { toString: 'x' } }],
    ['variables that are text', { query: '{ __typename }', variables: '{}' }],
    ['variables that are a list', { query: '{ __typename }', variables: [] }],
    ['extensions that are a number', { query: '{ __typename }', extensions: 5 }],
    ['an unknown member', { query: '{ __typename }', map: {} }],
  ])('%s', async (_what, body) => {
    expectBadRequest(readAnswer(await world.client.post('/graphql', body)), 'BAD_REQUEST', 400);
  });

  test('a body that is not UTF-8 is refused, not repaired', async () => {
    const [before, after] = ['{"query":"mutation { logout { success } } #', '"}'].map((part) =>
      Buffer.from(part),
    );
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80]]) {
      const response = await fetch(`${server.baseUrl}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: Buffer.concat([before ?? Buffer.of(), Buffer.from(bytes), after ?? Buffer.of()]),
      });
      const { status, headers } = response;
      expectBadRequest(readAnswer({ status, headers, body: await response.json() }), 'BAD_REQUEST', 400);
    }
  });

  test('a POST without a body', async () => {
    expectBadRequest(readAnswer(await world.client.post('/graphql')), 'BAD_REQUEST', 400);
  });

  test('an ambiguous operation', async () => {
    const two = 'query A { __typename } query B { __typename }';
    for (const body of [
      { query: two },
      { query: two, operationName: 'C' },
      { query: two, operationName: 5 },
    ]) {
      expectBadRequest(
        readAnswer(await world.client.post('/graphql', body)),
        'OPERATION_RESOLUTION_FAILURE',
        400,
      );
    }
  });

  test.each([
    'application/x-www-form-urlencoded',
    'text/plain',
    'application/graphql',
    'application/xjson',
    'multipart/form-data; boundary=x',
  ])('a body declared as %s, in the shape of REST', async (type) => {
    const client = world.client.with({ headers: { 'Content-Type': type } });
    const answer = await client.post('/graphql', '{"query":"{ __typename }"}');
    expect(answer).toMatchObject({ status: 400, body: { success: false, code: 'VALIDATION_FAILED' } });
  });

  test('a multipart upload, in the shape of REST', async () => {
    const form = new FormData();
    form.set('operations', '{"query":"{ __typename }","variables":{"file":null}}');
    form.set('map', '{"0":["variables.file"]}');
    form.set('0', new Blob(['x']), 'x.txt');
    const response = await fetch(`${server.baseUrl}/graphql`, { method: 'POST', body: form });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ success: false, code: 'VALIDATION_FAILED' });
  });

  test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/graphql+json'])(
    'but a body declared as %s is one',
    async (type) => {
      const client = world.client.with({ headers: { 'Content-Type': type } });
      const answer = readAnswer(await client.post('/graphql', { query: '{ __typename }' }));
      expect(answer.data).toEqual({ __typename: 'Query' });
    },
  );
});

describe('hostile documents', () => {
  const deep = (depth: number) =>
    `{ __schema { types { fields { type { ${'ofType { '.repeat(depth)} name ${'} '.repeat(depth)} } } } } }`;
  const many = (amount: number, field: string) =>
    `{ ${Array.from({ length: amount }, (_, index) => `a${index}: ${field}`).join(' ')} }`;

  test.each([
    ['a selection five thousand levels deep', deep(5000)],
    [
      'an object twenty thousand levels deep',
      `{ me(x: ${'{a:'.repeat(20_000)}1${'}'.repeat(20_000)}) { id } }`,
    ],
    [
      'brackets in a variable type',
      `query ($a: ${'['.repeat(40_000)}Int${']'.repeat(40_000)}) { __typename }`,
    ],
    ['five thousand aliases of a name', many(5000, '__typename')],
    ['a field eight thousand times', `{ ${'__typename '.repeat(8000)} }`],
    ['four thousand directives', `{ me { id ${'@include(if: true) '.repeat(4000)} } }`],
    ['five thousand unknown fields', many(5000, 'nope')],
  ])('%s is refused', async (_what, query) => {
    expectBadRequest(await world.graphql.ask(query), 'QUERY_TOO_LARGE');
    await stillServes();
  });

  test.each([
    [
      'a list as deep as a document may be long',
      `{ me(x: ${'['.repeat(990)}${']'.repeat(990)}) { id } }`,
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'a hundred directives',
      `{ me { id ${'@include(if: true) '.repeat(100)} } }`,
      'GRAPHQL_VALIDATION_FAILED',
    ],
    ['braces that never close', '{'.repeat(90_000), 'GRAPHQL_PARSE_FAILED'],
    ['forty unknown fields', many(40, 'nope'), 'GRAPHQL_VALIDATION_FAILED'],
    ['a hundred aliases of me', many(100, 'me { id }'), 'QUERY_TOO_WIDE'],
  ])('%s is refused for what it is', async (_what, query, code) => {
    expectBadRequest(await world.graphql.ask(query), code);
    await stillServes();
  });

  test('a list that could exhaust the stack is refused, and not logged as an internal error', async () => {
    const before = server.logLines.length;
    for (const depth of [1500, 1900, 40_000]) {
      const answer = await world.graphql.ask(`{ me(x: ${'['.repeat(depth)}${']'.repeat(depth)}) { id } }`);
      expect(answer.data).toBeUndefined();
      expect(['QUERY_TOO_DEEP', 'QUERY_TOO_LARGE']).toContain(answer.codes[0]);
    }
    expect(server.logLines.slice(before).join('')).not.toContain('unexpectedly');
    await stillServes();
  });

  test.each([
    ['fifty aliases of me', many(50, 'me { id }')],
    [
      'fragments in a circle',
      '{ me { ...A } } fragment A on Developer { ...B } fragment B on Developer { ...A }',
    ],
    [
      'fragments that double twenty times',
      `{ me { ...F0 } } ${Array.from({ length: 20 }, (_, i) => `fragment F${i} on Developer { ...F${i + 1} ...F${i + 1} }`).join(' ')} fragment F20 on Developer { id }`,
    ],
  ])('%s does not bring it down', async (_what, query) => {
    const answer = await world.graphql.ask(query);
    expect(answer.codes).not.toContain('INTERNAL');
    expect(answer.status).toBeLessThan(500);
    await stillServes();
  });

  test('an unauthenticated body beyond 100 KiB is 413, in the shape of REST', async () => {
    // A connection of its own: the server closes it on a client that is still sending.
    const body = JSON.stringify({ query: '{ __typename }', variables: { x: 'x'.repeat(100 * 1024) } });
    const response = await fetch(`${server.baseUrl}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Connection: 'close' },
      body,
    });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ success: false, code: 'PAYLOAD_TOO_LARGE' });
    await stillServes();
  });
});

describe('an internal error', () => {
  test('has only its request id in the response, and is logged', async () => {
    const fault = new Error('the password is hunter2');
    const spy = vi.spyOn(server.deps.services.changes, 'tell').mockRejectedValueOnce(fault);
    try {
      const answer = await world.graphql.request(CreateApplicationDocument, { input: { name: 'Photo Lab' } });
      expectRefused(answer, 'INTERNAL', { requestId: answer.headers.get('x-request-id') });
      expect(answer.data).toEqual({ createApplication: null });
      expect(JSON.stringify(answer.answer.body)).not.toContain('hunter2');
      expect(JSON.stringify(answer.answer.body)).not.toContain('stack');
      const requestId = answer.headers.get('x-request-id') ?? 'none';
      const logged = server.logLines.filter((line) => line.includes(requestId));
      expect(logged.join('')).toContain('request failed unexpectedly');
    } finally {
      spy.mockRestore();
    }
  });

  test('of an unavailable dependency is UNAVAILABLE', async () => {
    const spy = vi
      .spyOn(server.deps.services.changes, 'tell')
      .mockRejectedValueOnce(new StoreUnavailableError('redis://secret is away'));
    try {
      const answer = await world.graphql.request(CreateApplicationDocument, { input: { name: 'Photo Lab' } });
      expectRefused(answer, 'UNAVAILABLE');
      expect(JSON.stringify(answer.answer.body)).not.toContain('redis');
    } finally {
      spy.mockRestore();
    }
  });

  test('was logged for no other test here', async () => {
    expectRefused(await world.graphql.with({ cookie: 'none' }).request(MeDocument), 'UNAUTHENTICATED');
    const faults = server.logLines.filter((line) => line.includes('unexpectedly'));
    expect(faults.filter((line) => !line.includes('hunter2'))).toEqual([]);
  });
});
