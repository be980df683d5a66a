import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { buildSchema, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ApiClient } from '../setup/api-client.ts';
import { readAnswer } from '../setup/graphql-client.ts';
import { startTestServer } from '../setup/server.ts';
import { forFile, useServer } from '../setup/use-world.ts';
import {
  CreateApplicationDocument,
  LoginDocument,
  LogoutDocument,
  MeDocument,
  RegisterDocument,
} from './generated/graphql.ts';
import { createApiKey, createGraphqlWorld, expectBadRequest, noLimits, visitor, whoAmI } from './support.ts';

const server = useServer({ env: noLimits });
const world = forFile(() => createGraphqlWorld(server));

const failing = 'mutation { deleteApplication(input: { id: "x" }) { deletedApplicationId } }';
const asGet = (parameters: Record<string, string>) => `/graphql?${new URLSearchParams(parameters)}`;

describe('status codes', () => {
  const media = { json: 'application/json', graphql: 'application/graphql-response+json' };
  test.each([
    ['a success', '{ __typename }', { json: 200, graphql: 200 }],
    ['an error in execution', failing, { json: 200, graphql: 200 }],
    ['a document that does not parse', '{', { json: 200, graphql: 400 }],
    ['a document that is not valid', '{ nope }', { json: 200, graphql: 400 }],
    ['no document', '', { json: 200, graphql: 400 }],
  ])('of %s are those of GraphQL over HTTP for each media type', async (_what, query, statuses) => {
    for (const type of ['json', 'graphql'] as const) {
      const client = world.client.with({ headers: { Accept: media[type] } });
      const answer = readAnswer(await client.post('/graphql', { query }));
      expect(answer.status, type).toBe(statuses[type]);
      expect(answer.headers.get('content-type')).toBe(`${media[type]}; charset=utf-8`);
    }
  });

  test('and codes of refusals before execution', async () => {
    expectBadRequest(await world.graphql.ask('{'), 'GRAPHQL_PARSE_FAILED');
    expectBadRequest(await world.graphql.ask('{ nope }'), 'GRAPHQL_VALIDATION_FAILED');
    expectBadRequest(await world.graphql.ask(''), 'GRAPHQL_PARSE_FAILED');
    expectBadRequest(readAnswer(await world.client.post('/graphql', {})), 'BAD_REQUEST', 400);
    expectBadRequest(await world.graphql.ask('subscription { me }'), 'GRAPHQL_VALIDATION_FAILED');
  });
});

test('responses have the header fields of the service', async () => {
  for (const answer of [
    await world.client.post('/graphql', { query: '{ me { id } }' }),
    await world.client.post('/graphql', { query: failing }),
    await world.client.post('/graphql', { query: '{' }),
    await world.client.with({ headers: { Accept: 'text/html' } }).get('/graphql'),
  ]) {
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  }
});

describe('GET', () => {
  test('serves queries', async () => {
    const query = 'query ($first: Int) { me { id applications(first: $first) { totalCount } } }';
    const answer = readAnswer(await world.client.get(asGet({ query, variables: '{"first":1}' })));
    expect(answer.data).toEqual({
      me: { id: world.developer.id, applications: { totalCount: expect.any(Number) } },
    });
  });

  test('refuses mutations without executing them', async () => {
    const { id } = await world.createApplication();
    const query = `mutation { deleteApplication(input: { id: "${id}" }) { deletedApplicationId } }`;
    const answer = readAnswer(await world.client.get(asGet({ query })));
    expectBadRequest(answer, 'BAD_REQUEST', 405);
    expect(answer.headers.get('allow')).toBe('POST');
    const named = `query A { __typename } ${query.replace('mutation', 'mutation B')}`;
    const second = readAnswer(await world.client.get(asGet({ query: named, operationName: 'B' })));
    expectBadRequest(second, 'BAD_REQUEST', 405);
    expect((await world.client.get(`/api/v1/apps/${id}`)).status).toBe(200);
  });

  test.each([
    ['variables that are no JSON', { query: '{ __typename }', variables: '{' }, 'BAD_REQUEST', 400],
    ['extensions that are no JSON', { query: '{ __typename }', extensions: '{' }, 'BAD_REQUEST', 400],
    ['variables that are a number', { query: '{ __typename }', variables: '5' }, 'BAD_REQUEST', 400],
    ['a document that does not parse', { query: '{' }, 'GRAPHQL_PARSE_FAILED', 200],
    ['nothing', {}, 'BAD_REQUEST', 400],
  ])('refuses %s', async (_what, parameters, code, status) => {
    expectBadRequest(readAnswer(await world.client.get(asGet(parameters))), code, status);
  });
});

test.each(['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'])('%s causes no internal error', async (method) => {
  const body = method === 'PUT' || method === 'PATCH' ? { query: '{ __typename }' } : undefined;
  expect((await world.client.send(method, '/graphql', body)).status).toBeLessThan(500);
});

describe('a request with a cookie', () => {
  const query = '{ __typename }';

  test.each(['https://evil.example', 'null', 'http://127.0.0.1:1', 'https://localhost'])(
    'from %s is refused with 403 and does nothing',
    async (origin) => {
      const client = world.client.with({ headers: { Origin: origin } });
      const { id } = await world.createApplication();
      for (const text of [
        query,
        `mutation { deleteApplication(input: { id: "${id}" }) { deletedApplicationId } }`,
      ]) {
        const answer = await client.post('/graphql', { query: text });
        expect(answer).toMatchObject({ status: 403, body: { success: false, code: 'FORBIDDEN' } });
      }
      expect((await world.client.get(`/api/v1/apps/${id}`)).status).toBe(200);
    },
  );

  test('without an origin, or from the service’s own page, is served', async () => {
    expect(await whoAmI(world.graphql)).toBe(world.developer.id);
    const here = world.graphql.with({ headers: { Origin: new URL(server.baseUrl).origin } });
    expect(await whoAmI(here)).toBe(world.developer.id);
  });

  test('is what the origin guard is for: with an API key any page may call', async () => {
    const { apiKey } = await createApiKey(world.client);
    const client = visitor(server).with({ bearer: apiKey, headers: { Origin: 'https://evil.example' } });
    expect(await whoAmI(client)).toBe(world.developer.id);
  });

  test('is served to allowed origins with CORS header fields, and to others without', async () => {
    const origin = 'https://dash.example.com';
    const open = await startTestServer({ env: { ...noLimits, CORS_ORIGINS: origin } });
    try {
      const { graphql, developer } = await createGraphqlWorld(open);
      const answer = await graphql.with({ headers: { Origin: origin } }).request(MeDocument);
      expect(answer.data?.me?.id).toBe(developer.id);
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
      expect(answer.headers.get('access-control-allow-credentials')).toBe('true');
      const login = await visitor(open)
        .with({ headers: { Origin: origin } })
        .request(LoginDocument, { input: { email: developer.email, password: developer.password } });
      expect(login.headers.get('access-control-allow-origin')).toBe(origin);
      expect(login.headers.getSetCookie()).toHaveLength(1);
      const { apiKey } = await createApiKey(graphql.api);
      const foreign = visitor(open).with({ bearer: apiKey, headers: { Origin: 'https://evil.example' } });
      const unreadable = await foreign.request(MeDocument);
      expect(unreadable.errors).toEqual([]);
      expect(unreadable.headers.get('access-control-allow-origin')).toBeNull();
    } finally {
      await open.close();
    }
  });
});

describe('a POST without a cookie that could set one', () => {
  const origins = ['https://evil.example', 'null', 'rubbish', 'http://127.0.0.1:1', 'https://localhost'];

  test.each(origins)('from %s is refused with 403: no login, no account, no logout', async (origin) => {
    const client = new ApiClient(server.baseUrl, { headers: { Origin: origin } });
    const { email, password } = world.developer;
    const login = { input: { email, password } };
    const newcomer = `${randomUUID()}@example.com`;
    for (const body of [
      { query: LoginDocument.toString(), variables: login },
      {
        query: RegisterDocument.toString(),
        variables: { input: { email: newcomer, password, name: 'Eve' } },
      },
      { query: LogoutDocument.toString() },
      { query: '{ __typename }' },
    ]) {
      const answer = await client.post('/graphql', body);
      expect(answer).toMatchObject({ status: 403, body: { success: false, code: 'FORBIDDEN' } });
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    const made = { where: { email: newcomer } };
    expect(await server.deps.services.database.prisma.developer.count(made)).toBe(0);
  });

  test('from the service’s own page, or without an origin, is served', async () => {
    const { email, password } = world.developer;
    const here = visitor(server).with({ headers: { Origin: new URL(server.baseUrl).origin } });
    for (const client of [visitor(server), here]) {
      const answer = await client.request(LoginDocument, { input: { email, password } });
      expect(answer.headers.getSetCookie()).toHaveLength(1);
    }
  });
});

describe('the size of a body', () => {
  const kibibyte = 1024;
  const most = { anonymous: 100 * kibibyte, developer: 8 * 1024 * kibibyte };

  /** A request of exactly so many bytes, in texts that are not too long by themselves. */
  const padded = (query: string, size: number, variables: object = {}) => {
    const write = (padding: readonly string[]) =>
      JSON.stringify({ query, variables, extensions: { padding } });
    const texts = Array<string>(Math.floor((size - 1000) / (50 * kibibyte))).fill(
      'x'.repeat(50 * kibibyte - 3),
    );
    return write([...texts, 'x'.repeat(size - write([...texts, '']).length)]);
  };

  /** Sends the body by its declared length, or in chunks. */
  const send = async (body: string, chunked: boolean, headers: Record<string, string> = {}) => {
    const bytes = Buffer.from(body);
    const init = {
      method: 'POST',
      // A connection of its own: the server closes it on a client that is still sending.
      headers: { 'Content-Type': 'application/json', Connection: 'close', ...headers },
      body: chunked ? new Blob([bytes]).stream() : bytes,
      duplex: 'half' as const,
    };
    const response = await fetch(`${server.baseUrl}/graphql`, init);
    const { status, headers: answered } = response;
    return { status, headers: answered, body: await response.json() };
  };
  const byKey = async () => ({ Authorization: `Bearer ${(await createApiKey(world.client)).apiKey}` });
  const tooLarge = { status: 413, body: { success: false, code: 'PAYLOAD_TOO_LARGE' } };
  const how = [
    ['declared', false],
    ['chunked', true],
  ] as const;

  test.each(how)('is at most 100 KiB without authentication, its length %s', async (_how, chunked) => {
    const answer = await send(padded('{ __typename }', most.anonymous), chunked);
    expect(answer.body).toEqual({ data: { __typename: 'Query' } });
    expect(await send(padded('{ __typename }', most.anonymous + 1), chunked)).toMatchObject(tooLarge);
  });

  test.each(how)('is at most 8 MiB from a developer, its length %s', async (_how, chunked) => {
    const headers = await byKey();
    const answer = await send(padded('{ me { id } }', most.developer), chunked, headers);
    expect(answer.body).toEqual({ data: { me: { id: world.developer.id } } });
    expect(await send(padded('{ me { id } }', most.developer + 1), chunked, headers)).toMatchObject(tooLarge);
  });

  test('of a developer is accepted with a cookie too, and by a mutation that uses its variables', async () => {
    const padding = padded(CreateApplicationDocument.toString(), most.developer, {
      input: { name: 'Large' },
    });
    const answer = readAnswer(await world.client.post('/graphql', padding));
    expect(answer.data).toMatchObject({ createApplication: { application: { name: 'Large' } } });
  });

  test.each([
    ['an API key', { Authorization: 'Bearer service_live_none' }],
    ['a cookie', { Cookie: 'service_session=none' }],
  ])('is no help for %s that is not good: that is what the answer says', async (_what, headers) => {
    const answer = await send(padded('{ me { id } }', most.anonymous + 1), false, headers);
    expect(answer).toMatchObject({ status: 401, body: { success: false, code: 'UNAUTHENTICATED' } });
  });

  /** Sends this on a socket and reads the status of what comes back, while the body is not at its end. */
  const statusOf = async (headers: string, ...chunks: readonly string[]) => {
    const { hostname, port } = new URL(server.baseUrl);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    try {
      socket.write(
        `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`,
      );
      for (const chunk of chunks) socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
      const [answer] = await once(socket, 'data');
      return Number(/^HTTP\/1\.1 (\d+)/.exec(String(answer))?.[1]);
    } finally {
      socket.destroy();
    }
  };

  test('that is declared beyond the public limit is refused before the first byte', async () => {
    expect(await statusOf(`Content-Length: ${most.anonymous + 1}`)).toBe(413);
  });

  test('of endless unauthenticated chunks is refused at the public limit, so that memory is bounded', async () => {
    const chunk = ' '.repeat(kibibyte);
    const chunks = Array<string>(101).fill(chunk);
    const answers = Array.from({ length: 20 }, () => statusOf('Transfer-Encoding: chunked', ...chunks));
    expect(new Set(await Promise.all(answers))).toEqual(new Set([413]));
  });

  test.each([
    ['a query of megabytes', { query: `{ __typename } #${'x'.repeat(7e6)}` }, 'bytes'],
    ['a name of megabytes', { query: '{ __typename }', variables: { ['x'.repeat(7e6)]: 1 } }, 'bytes'],
    [
      'more than 100,000 values',
      { query: '{ __typename }', variables: { x: Array(100_000).fill(1) } },
      'values',
    ],
    [
      'lists in lists',
      `{"query":"{ __typename }","variables":{"x":${'['.repeat(4e6)}${']'.repeat(4e6)}}}`,
      'values',
    ],
  ])('of a developer holds nothing that stalls the service: %s is 413', async (_what, body, said) => {
    const answer = readAnswer(await world.client.post('/graphql', body));
    expectBadRequest(answer, 'PAYLOAD_TOO_LARGE', 413);
    expect(answer.errors[0]?.message).toContain(said);
  });

  test('of a developer can have ten thousand keys with all members', async () => {
    const key = { hash: 'a'.repeat(64), prefix: 'ABCDE-', seconds: 0, note: '[{"\\",,'.repeat(20), tier: 1 };
    const body = { query: '{ __typename }', extensions: { keys: Array(10_000).fill(key) } };
    expect((await world.client.post('/graphql', body)).body).toEqual({ data: { __typename: 'Query' } });
  });
});

describe('introspection', () => {
  test('returns the schema with descriptions to everyone', async () => {
    const answer = await visitor(server).ask(
      '{ __schema { types { name description } queryType { name } } }',
    );
    const { __schema } = z
      .object({
        __schema: z.object({ types: z.array(z.object({ name: z.string(), description: z.string() })) }),
      })
      .parse(answer.data);
    expect(__schema.types.map(({ name }) => name)).toContain('License');
  });
});

describe('GraphiQL', () => {
  const page = async () => {
    const answer = await visitor(server)
      .api.with({ headers: { Accept: 'text/html' } })
      .get('/graphql');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
    return z.string().parse(answer.body);
  };

  test('opens with a valid query', async () => {
    const [, address = ''] = /<script src="([^"]+)"/.exec(await page()) ?? [];
    const script = await (await fetch(new URL(address, `${server.baseUrl}/graphql`))).text();
    const options = /renderYogaGraphiQL\([^,]+, (\{.*\})\);\s*$/.exec(script.slice(-5000))?.[1];
    const { defaultQuery, title } = z
      .object({ defaultQuery: z.string(), title: z.literal('Latchkey') })
      .parse(JSON.parse(options ?? '{}'));
    expect(title).toBe('Latchkey');
    const committed = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8');
    expect(validate(buildSchema(committed), parse(defaultQuery))).toEqual([]);
    const hint = [...defaultQuery.matchAll(/^# {3}(.*)$/gm)].map(([, line]) => line).join('\n');
    expect(validate(buildSchema(committed), parse(hint))).toEqual([]);
    const answer = await world.graphql.ask(defaultQuery);
    expect(answer.errors).toEqual([]);
    expect(answer.data).toMatchObject({ me: { email: world.developer.email } });
  });

  test('is only for browsers: a program that does not accept HTML gets no page', async () => {
    const answer = readAnswer(await visitor(server).api.get('/graphql'));
    expectBadRequest(answer, 'BAD_REQUEST', 400);
  });
});
