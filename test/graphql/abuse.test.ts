import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { queryLimits } from '../../src/graphql/query-limits.ts';
import { readAnswer } from '../setup/graphql-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import type { SeededApplication } from '../setup/world.ts';
import { createGraphqlWorld, expectBadRequest, expectIssues, type GraphqlWorld, visitor } from './support.ts';

let server: TestServer;
let world: GraphqlWorld;
let application: SeededApplication;
beforeAll(async () => {
  server = await startTestServer();
  world = await createGraphqlWorld(server);
  application = await world.createApplication();
  await application.mint({ amount: 3 });
});
afterAll(() => server.close());

const ask = (query: string, variables?: object) => world.graphql.ask(query, variables);

/** Holds a document to being executed, with no error. */
async function expectServed(query: string, variables?: object) {
  const answer = await ask(query, variables);
  expect(answer.errors).toEqual([]);
  return answer;
}

/** Holds a document to being refused with this code, and a message that names the limit. */
async function expectOver(code: string, limit: number, query: string, variables?: object) {
  const answer = await ask(query, variables);
  expectBadRequest(answer, code);
  expect(answer.errors).toHaveLength(1);
  expect(answer.errors[0]?.message).toContain(limit.toLocaleString('en-US'));
}

const times = (amount: number, write: (index: number) => string) =>
  Array.from({ length: amount }, (_, index) => write(index)).join(' ');

/** That many aliases of a field. */
const aliases = (amount: number, field: string, prefix = 'a') =>
  times(amount, (index) => `${prefix}${index}: ${field}`);

describe('the length of a document', () => {
  /** Five tokens each. */
  const operations = (amount: number) => times(amount, (index) => `query Q${index} { __typename }`);
  const askFirst = async (query: string) =>
    readAnswer(await world.client.post('/graphql', { query, operationName: 'Q0' }));

  test('is at most 2,000 tokens', async () => {
    expect((await askFirst(operations(400))).data).toEqual({ __typename: 'Query' });
    const over = await askFirst(operations(400).replace('}', '__typename }'));
    expectBadRequest(over, 'QUERY_TOO_LARGE');
    expect(over.errors[0]?.message).toContain('2,000 tokens');
  });

  test('does not include comments or values in variables', async () => {
    const commented = await askFirst(`${operations(400)} # ${'word '.repeat(5000)}`);
    expect(commented.data).toEqual({ __typename: 'Query' });
    const query = 'query ($id: ID!) { application(id: $id) { id } }';
    expect((await ask(query, { id: 'word '.repeat(5000) })).codes).not.toContain('QUERY_TOO_LARGE');
  });

  test('is limited further if it repeats the same fields, because validation compares all pairs', async () => {
    const document = (amount: number) => `{ me { ${'id '.repeat(amount)} } }`;
    await expectServed(document(200));
    const answer = await ask(document(1900));
    expectBadRequest(answer, 'QUERY_TOO_LARGE');
    expect(answer.errors[0]?.message).toContain('same name');
  });

  test('is at most 2,000 lines with any line ends', async () => {
    for (const end of ['\n', '\r', '\r\n']) {
      await expectServed(`${end.repeat(1999)}{ __typename }`);
      await expectOver('QUERY_TOO_LARGE', queryLimits.lines, `${end.repeat(2000)}{ __typename }`);
    }
  });

  test('is at most 50 fragments, because validation compares all pairs', async () => {
    const chain = (amount: number) =>
      `{ me { ...F1 } } ${times(amount - 1, (index) => `fragment F${index + 1} on Developer { ...F${index + 2} }`)}
       fragment F${amount} on Developer { id }`;
    await expectServed(chain(50));
    await expectOver('QUERY_TOO_LARGE', queryLimits.fragments, chain(51));
  });
});

describe('the width of an operation', () => {
  test('is at most 50 aliases', async () => {
    await expectServed(`{ me { ${aliases(50, 'id')} } }`);
    await expectOver('QUERY_TOO_WIDE', queryLimits.aliases, `{ me { ${aliases(51, 'id')} } }`);
  });

  test('counts aliases of a fragment each time it is spread', async () => {
    const document = (spreads: number) =>
      `{ me { ${aliases(spreads, 'applications(first: 1) { edges { node { ...F } } }')} } }
       fragment F on Application { ...G } fragment G on Application { ${aliases(9, 'name', 'g')} }`;
    await expectServed(document(5));
    await expectOver('QUERY_TOO_WIDE', queryLimits.aliases, document(6));
  });

  test('counts aliases in inline fragments and behind directives', async () => {
    const document = (amount: number) =>
      `{ me { ... on Developer @skip(if: true) { ${aliases(amount, 'id')} } ... { b: id @include(if: false) } } }`;
    await expectServed(document(49));
    await expectOver('QUERY_TOO_WIDE', queryLimits.aliases, document(50));
  });

  test('counts an alias in introspection ten times', async () => {
    const document = (amount: number) => `{ ${aliases(amount, '__schema { types { name } }')} }`;
    await expectServed(document(5));
    await expectOver('QUERY_TOO_WIDE', queryLimits.aliases, document(6));
    await expectOver(
      'QUERY_TOO_WIDE',
      queryLimits.aliases,
      `{ __schema { types { ${aliases(6, 'name')} } } }`,
    );
  });

  test('is at most 50 root fields, with or without aliases', async () => {
    const document = (amount: number) =>
      `{ ...R ${'me { id } '.repeat(amount - 1)} } fragment R on Query { me { id } }`;
    await expectServed(document(50));
    await expectOver('QUERY_TOO_WIDE', queryLimits.rootFields, document(51));
  });

  test('is checked for every operation of the document', async () => {
    const wide = `query B { me { ${aliases(51, 'id')} } }`;
    const answer = await world.client.post('/graphql', {
      query: `query A { __typename } ${wide}`,
      operationName: 'B',
    });
    expect(answer.body).toMatchObject({ errors: [{ extensions: { code: 'QUERY_TOO_WIDE' } }] });
  });
});

describe('the depth of an operation', () => {
  /** Nine levels down to a license's application, and four for each turn from there. */
  const licenses = (inner: string) => `licenses(first: 1) { edges { node { application { ${inner} } } } }`;

  test('is at most 12 levels', async () => {
    const document = (leaf: string) =>
      `query ($id: ID!) { application(id: $id) { ${licenses(licenses(leaf))} } }`;
    const { id } = application;
    // application, four levels for each turn, and the leaf's own.
    await expectServed(document('id'), { id });
    await expectServed(document('responseMessages { key }'), { id });
    await expectServed(document('licenses(first: 1) { pageInfo { hasNextPage } }'), { id });
    await expectOver(
      'QUERY_TOO_DEEP',
      queryLimits.depth,
      document('licenses(first: 1) { edges { node { id } } }'),
      {
        id,
      },
    );
  });

  test('is the same through fragments', async () => {
    const document = (leaf: string) => `query ($id: ID!) { application(id: $id) { ...A } }
      fragment A on Application { ... { licenses(first: 1) { edges { node { application { ...B } } } } } }
      fragment B on Application { licenses(first: 1) { edges { node { application { ...C } } } } }
      fragment C on Application { ${leaf} }`;
    const { id } = application;
    await expectServed(document('licenses(first: 1) { pageInfo { hasNextPage } }'), { id });
    await expectOver(
      'QUERY_TOO_DEEP',
      queryLimits.depth,
      document('licenses(first: 1) { edges { node { id } } }'),
      {
        id,
      },
    );
  });

  test('does not include introspection: the query of GraphiQL and generators is served to everyone', async () => {
    const query = getIntrospectionQuery({
      schemaDescription: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      inputValueDeprecation: true,
    });
    expect((await visitor(server).ask(query)).errors).toEqual([]);
  });

  test('is not computed for circular fragments, which are refused as such', async () => {
    const circle = `{ me { ...A } } fragment A on Developer { a: id ...B }
      fragment B on Developer { applications { edges { node { licenses { edges { node { id } } } } } } ...A }`;
    expectBadRequest(await ask(circle), 'GRAPHQL_VALIDATION_FAILED');
  });
});

describe('the complexity of an operation', () => {
  const rows = (list: string, fields = 'id') => `${list} { edges { node { ${fields} } } }`;
  /** 1 for each of me and the lists: 2 + applications x (1 + licenses). */
  const nested = (applications: string, licenses: string, fields = 'id') =>
    `{ me { ${rows(`applications${applications}`, rows(`licenses${licenses}`, fields))} } }`;
  const over = (query: string, variables?: object) =>
    expectOver('QUERY_TOO_COMPLEX', queryLimits.complexity, query, variables);

  test('is at most 20,000: a dashboard screen passes, two hundred times two hundred does not', async () => {
    const twelve =
      'id keyPrefix status subscriptionTier durationSeconds activatedAt expiresAt hwid lastIp note createdAt updatedAt';
    await expectServed(nested('(first: 10)', '(first: 50)', twelve));
    await over(nested('(first: 200)', '(first: 200)'));
  });

  test('multiplies fields by list sizes', async () => {
    await expectServed(nested('(first: 101)', '(first: 196)'));
    await over(nested('(first: 101)', '(first: 198)'));
    await expectServed(nested('(last: 101)', '(last: 196)'));
    await over(nested('(last: 101)', '(last: 198)'));
  });

  test('counts a list without a size, or with null, as fifty', async () => {
    for (const size of ['', '(first: null)']) {
      await expectServed(nested(size, '(first: 199)', 'id __typename'));
      await over(nested(size, '(first: 200)', 'id __typename'));
    }
  });

  test('uses sizes from variables and their defaults', async () => {
    const query = (fallback = '') =>
      `query ($first: Int${fallback}) ${nested('(first: $first)', '(first: $first)')}`;
    await expectServed(query(), { first: 140 });
    await over(query(), { first: 141 });
    await expectServed(query(' = 140'));
    await over(query(' = 141'));
    await expectServed(query(' = 200'), { first: 1 });
  });

  test('is that of the named operation', async () => {
    const query = `query A { __typename } query B ${nested('(first: 200)', '(first: 200)')}`;
    const named = async (operationName: string) =>
      (await world.client.post('/graphql', { query, operationName })).body;
    expect(await named('A')).toEqual({ data: { __typename: 'Query' } });
    expect(await named('B')).toMatchObject({ errors: [{ extensions: { code: 'QUERY_TOO_COMPLEX' } }] });
  });

  test('counts fragments each time they are spread, and fields that directives may omit', async () => {
    const query = (spread: string) =>
      `{ me { ${rows('applications(first: 100)', `${spread} ...F`)} } }
       fragment F on Application { ${rows('licenses(first: 100)')} }`;
    await expectServed(query(''));
    await over(query('... on Application @skip(if: true) { ...F }'));
    const doubling = `{ me { ...F0 } } ${times(40, (index) => `fragment F${index} on Developer { ...F${index + 1} ...F${index + 1} }`)}
      fragment F40 on Developer { id }`;
    await over(doubling);
  });

  test('counts a note by its length: two hundred of them requested forty times are 50 MB', async () => {
    const { id } = application;
    const query = (times: number) =>
      `query ($id: ID!) { application(id: $id) { ${rows('licenses(first: 200)', aliases(times, 'note'))} } }`;
    await expectServed(query(12), { id });
    await over(query(13), { id });
  });

  test('counts each text of an application by its length', async () => {
    const { id } = application;
    const query = (first: number) =>
      `query ($id: ID!) { application(id: $id) { ${rows(`licenses(first: ${first})`, aliases(4, 'application { responseMessages { key text } }'))} } }`;
    // 4 x (1 + 1 + 22 x (1 + 2)) for each of the licenses.
    await expectServed(query(73), { id });
    await over(query(74), { id });
  });

  test('allows one batch of the largest size, but not two', async () => {
    const batch = `createLicenses(input: $input) {
      warning keys { id licenseKey keyPrefix durationSeconds subscriptionTier } application { id name } }`;
    const query = (amount: number) => `mutation ($input: CreateLicensesInput!) { ${aliases(amount, batch)} }`;
    const input = { applicationId: application.id, amount: 10_000, durationSeconds: 0 };
    await over(query(2), { input });
    const answer = await expectServed(query(1), { input });
    expect(JSON.stringify(answer.data).match(/"licenseKey"/g)).toHaveLength(10_000);
  });

  test('does not hide an invalid size', async () => {
    expectIssues(await ask(`{ me { ${rows('applications(first: 1000000)')} } }`), [['first']]);
    expectIssues(await ask(`{ me { ${rows('applications(first: -5)')} } }`), [['first']]);
  });
});

describe('a refused document', () => {
  test.each([
    [
      'QUERY_TOO_LARGE',
      `mutation ($input: LoginInput!) { ${aliases(1000, 'login(input: $input) { developer { id } }')} }`,
    ],
    [
      'QUERY_TOO_WIDE',
      `mutation ($input: LoginInput!) { ${aliases(51, 'login(input: $input) { developer { id } }')} }`,
    ],
    [
      'QUERY_TOO_DEEP',
      `mutation ($input: LoginInput!) { login(input: $input) { developer { applications { edges { node { licenses { edges { node { application { licenses { edges { node { id } } } } } } } } } } } } }`,
    ],
    [
      'QUERY_TOO_COMPLEX',
      `mutation ($input: LoginInput!) { login(input: $input) { developer { applications(first: 200) { edges { node { licenses(first: 200) { edges { node { id } } } } } } } } }`,
    ],
  ])('as %s draws on no rate limit and runs nothing', async (code, query) => {
    const client = visitor(server);
    const input = { email: 'nobody@example.com', password: 'not the password' };
    const consume = vi.spyOn(server.deps.services.store, 'consume');
    try {
      expectBadRequest(await client.ask(query, { input }), code);
      expect(consume.mock.calls.filter(([bucket]) => bucket.name === 'auth')).toEqual([]);
    } finally {
      consume.mockRestore();
    }
  });

  test('is 400 for a client that accepts the media type of GraphQL', async () => {
    const client = world.graphql.with({ headers: { Accept: 'application/graphql-response+json' } });
    expectBadRequest(await client.ask(`{ me { ${aliases(51, 'id')} } }`), 'QUERY_TOO_WIDE', 400);
  });
});

test('variables with very many errors have fifty errors reported', async () => {
  const query =
    'mutation ($input: UpdateApplicationSettingsInput!) { updateApplicationSettings(input: $input) { application { id } } }';
  const answer = await ask(query, { input: { id: 'x', responseMessages: Array(20_000).fill(0) } });
  expectBadRequest(answer, 'BAD_REQUEST');
  expect(answer.errors.length).toBeLessThanOrEqual(51);
});

test('invalid variables are not repeated for each error, so that the response stays short', async () => {
  const query =
    'mutation ($input: CreateApplicationInput!) { createApplication(input: $input) { application { id } } }';
  const unknown = Object.fromEntries(Array.from({ length: 45 }, (_, index) => [`unknown${index}`, 1]));
  for (const length of [1, 8_000, 90_000]) {
    const answer = await ask(query, { input: { name: 'n'.repeat(length), ...unknown } });
    expectBadRequest(answer, 'BAD_REQUEST');
    expect(answer.errors[0]?.message).toContain('unknown0');
    expect(JSON.stringify(answer.answer.body).length).toBeLessThan(45 * 1000);
  }
});

test('a list that is too long is not checked item by item', async () => {
  const query =
    'mutation ($input: UpdateApplicationSettingsInput!) { updateApplicationSettings(input: $input) { application { id } } }';
  const responseMessages = Array(23).fill({ key: 'OK', text: '' });
  expectIssues(await ask(query, { input: { id: application.id, responseMessages } }), [['responseMessages']]);
});

test('a member that would make a result look like a promise is refused, not executed', async () => {
  const query = `{ application(id: "${application.id}") { responseMessages { then: text } } }`;
  for (let use = 0; use < 3; use++) expectBadRequest(await ask(query), 'GRAPHQL_VALIDATION_FAILED');
});

test('refused documents do not accumulate in memory', { tags: 'slow' }, async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const heap = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed / 1e6;
  };
  const refuse = async (round: number, amount: number) => {
    for (let index = 0; index < amount; index++) {
      const text = `{ ...F${times(640, (field) => `@b${round}x${index}y${field}`)} }`;
      expect((await ask(text)).codes).toContain('GRAPHQL_VALIDATION_FAILED');
    }
  };
  await refuse(0, 20);
  const before = heap();
  await refuse(1, 200);
  // Kept, they would be well above a hundred.
  expect(heap() - before).toBeLessThan(40);
});
