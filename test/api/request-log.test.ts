import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { ApiClient, failureBody, randomIp } from '../setup/api-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { useWorld } from '../setup/use-world.ts';

const { server, world } = useWorld({ env: { COUNTRY_HEADER: 'CF-IPCountry', CRYPTO_ENFORCE: 'false' } });

/** All fields that a line may have. */
const requestLine = z.strictObject({
  level: z.number(),
  time: z.string(),
  msg: z.literal('request'),
  requestId: z.string(),
  transport: z.string(),
  method: z.string(),
  route: z.string(),
  status: z.number().optional(),
  code: z.string().optional(),
  aborted: z.literal(true).optional(),
  durationMilliseconds: z.number(),
  ip: z.string().optional(),
  country: z.string().optional(),
  developerId: z.string().optional(),
  credential: z.string().optional(),
  applicationId: z.string().optional(),
  operation: z.string().optional(),
  operationKind: z.string().optional(),
  bytesIn: z.number(),
  bytesOut: z.number(),
  userAgent: z.string().optional(),
});
type RequestLine = z.infer<typeof requestLine>;

const parsed = () => server.logLines.map((line): unknown => JSON.parse(line));
const isRequest = (line: unknown) => z.object({ msg: z.literal('request') }).safeParse(line).success;

let names = 0;
/** Sends a request with a unique id and waits for its line. */
async function lineOf(
  send: (client: ApiClient) => Promise<unknown>,
  base = new ApiClient(server.baseUrl),
): Promise<RequestLine> {
  names += 1;
  const requestId = `line-${names}`;
  await send(base.with({ headers: { 'X-Request-Id': requestId, 'User-Agent': 'test/1.0' } }));
  return vi.waitFor(
    () => {
      const lines = parsed().filter(
        (line) => isRequest(line) && z.object({ requestId: z.literal(requestId) }).safeParse(line).success,
      );
      expect(lines).toHaveLength(1);
      return requestLine.parse(lines[0]);
    },
    { timeout: 10_000 },
  );
}

const info = 30;
const error = 50;
const debug = 20;

test('a REST request has one line with actor, route, result and duration', async () => {
  const application = await world.createApplication();
  const ip = randomIp();
  const line = await lineOf(
    (client) => client.get(`/api/v1/apps/${application.id}/users?q=needle`),
    new ApiClient(server.baseUrl, { ip, ...cookieOfWorld() }),
  );
  expect(line).toMatchObject({
    level: info,
    transport: 'rest',
    method: 'GET',
    route: '/api/v1/apps/:id/users',
    status: 200,
    ip,
    developerId: world.developer.id,
    credential: 'session',
    applicationId: application.id,
    userAgent: 'test/1.0',
  });
  expect(line.code).toBeUndefined();
  expect(line.durationMilliseconds).toBeGreaterThan(0);
  expect(line.bytesIn).toBeGreaterThan(100);
  expect(line.bytesOut).toBeGreaterThan(100);
});

/** The credentials of the world's client. */
function cookieOfWorld() {
  return { cookie: cookie ?? '' };
}
let cookie: string | undefined;
beforeAll(async () => {
  const { email, password } = world.developer;
  const response = await fetch(`${server.baseUrl}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': randomIp() },
    body: JSON.stringify({ email, password }),
  });
  cookie = /service_session=([^;]*)/.exec(response.headers.getSetCookie().join())?.[1];
});

test('an API key is identified by its id', async () => {
  const created = await world.client.post('/api/v1/account/api-keys', { name: 'key' });
  const { key } = z.object({ key: z.object({ id: z.string(), apiKey: z.string() }) }).parse(created.body);
  const line = await lineOf(
    (client) => client.get('/api/v1/auth/me'),
    new ApiClient(server.baseUrl, { bearer: key.apiKey }),
  );
  expect(line).toMatchObject({ credential: key.id, developerId: world.developer.id });
});

test('a sealed request has its result code, which is not visible in the response', async () => {
  const application = await world.createApplication();
  const { licenseKey } = await application.mintOne();
  const session = await openSession(server, application);
  const ask = (key: string) =>
    lineOf((client) => client.post(validatePath, session.seal(session.inner({ licenseKey: key }))));
  const sealed = { transport: 'sealed', method: 'POST', route: validatePath, applicationId: application.id };
  expect(await ask(licenseKey)).toMatchObject({ ...sealed, level: debug, status: 200, code: 'OK' });
  expect(await ask('none')).toMatchObject({ ...sealed, status: 200, code: 'LICENSE_NOT_FOUND' });
  const same = session.seal(session.inner({ licenseKey }));
  expect(await lineOf((client) => client.post(validatePath, same))).toMatchObject({ code: 'OK' });
  expect(await lineOf((client) => client.post(validatePath, same))).toMatchObject({
    ...sealed,
    status: 400,
    code: 'REPLAY',
  });
  await application.settings({ status: 'disabled' });
  const init = await lineOf((client) =>
    client.post('/api/v1/session/init', {
      appId: application.id,
      clientNonceB64: Buffer.alloc(32).toString('base64'),
      clientVersion: application.version,
    }),
  );
  expect(init).toMatchObject({
    route: '/api/v1/session/init',
    status: 403,
    code: 'APP_DISABLED',
    applicationId: application.id,
  });
});

test('a GraphQL request has its operation and the code of its first error', async () => {
  const line = await lineOf(
    (client) => client.post('/graphql', { query: 'query Mine { me { id } }' }),
    new ApiClient(server.baseUrl, cookieOfWorld()),
  );
  expect(line).toMatchObject({
    transport: 'graphql',
    route: '/graphql',
    operation: 'Mine',
    operationKind: 'query',
  });
  const refused = await lineOf((client) => client.post('/graphql', { query: 'query Mine { me { id } }' }));
  expect(refused).toMatchObject({ operation: 'Mine', code: 'UNAUTHENTICATED', status: 200 });
  expect(refused.developerId).toBeUndefined();
  const long = `a${'b'.repeat(500)}`;
  const cut = await lineOf((client) => client.post('/graphql', { query: `query ${long} { __typename }` }));
  expect(cut.operation).toBe(long.slice(0, 120));
  const invalid = await lineOf((client) => client.post('/graphql', { query: 'query Secret { nothing }' }));
  expect(invalid).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' });
  expect(invalid.operation).toBeUndefined();
});

test('unknown routes, pages and health checks have a line too', async () => {
  expect(await lineOf((client) => client.get('/not/there?token=1'))).toMatchObject({
    route: 'unmatched',
    status: 404,
    code: 'ROUTE_NOT_FOUND',
  });
  expect(await lineOf((client) => client.delete('/graphql'))).toMatchObject({
    route: 'unmatched',
    status: 404,
  });
  expect(await lineOf((client) => client.get('/docs'))).toMatchObject({ transport: 'page', status: 200 });
  expect(await lineOf((client) => client.get('/health'))).toMatchObject({ level: debug, route: '/health' });
});

test('an internal error has the level error', async () => {
  const { prisma } = server.deps.services.database;
  const broken = vi.spyOn(prisma.developer, 'findUnique').mockImplementation(() => {
    throw new Error('broken by the test');
  });
  const line = await lineOf(
    (client) => client.get('/api/v1/auth/me'),
    new ApiClient(server.baseUrl, cookieOfWorld()),
  ).finally(() => broken.mockRestore());
  expect(line).toMatchObject({ level: error, status: 500, code: 'INTERNAL' });
});

test('the country equals that in the security log', async () => {
  const line = await lineOf(async (client) => {
    const { ip } = client;
    await fetch(`${server.baseUrl}/docs/start.js`, {
      headers: { 'X-Request-Id': `line-${names}`, 'X-Forwarded-For': ip, 'CF-IPCountry': 'DE' },
    });
  });
  expect(line.country).toBe('DE');
});

test.each(['service_live_', 'k.service_live_', 'app-1_service_live_'])(
  'a request id that contains an API key after %s is ignored',
  async (before) => {
    const name = `${before}${'PLANTED'.padEnd(43, 'x')}`;
    const from = server.logLines.length;
    const { headers } = await new ApiClient(server.baseUrl, { headers: { 'X-Request-Id': name } }).get(
      '/nothing',
    );
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    const lines = await vi.waitFor(
      () => {
        const found = server.logLines.slice(from).join('');
        expect(found).toContain(headers.get('x-request-id'));
        return found;
      },
      { timeout: 30_000 },
    );
    expect(lines).not.toContain('PLANTED');
  },
);

test('no line contains a body, a header field, a query, a credential or a path', async () => {
  const planted = 'PLANTED';
  const bearer = `service_live_${planted.padEnd(43, 'x')}`;
  const hostile = new ApiClient(server.baseUrl, {
    bearer,
    headers: {
      Cookie: `service_session=${planted}; other=${planted}`,
      'X-Planted': planted,
      Referer: `https://example.com/${planted}`,
      'X-Request-Id': bearer,
      'User-Agent': `agent ${bearer}`,
      'CF-IPCountry': planted,
    },
  });
  const before = server.logLines.length;
  await hostile.post(`/api/v1/auth/login?token=${planted}`, {
    email: `${planted}@example.com`,
    password: planted,
  });
  await hostile.post('/api/v1/auth/register', {
    email: `${planted}@example.com`,
    password: `${planted}12`,
    name: planted,
  });
  await hostile.get(`/api/v1/apps/${planted}/users?q=${planted}`);
  await hostile.get(`/${planted}`);
  await hostile.post(validatePath, { appId: planted, licenseKey: planted });
  await hostile.post(validatePath, {
    sessionId: planted,
    ivB64: planted,
    ciphertextB64: planted,
    tagB64: planted,
  });
  await hostile.post('/graphql', {
    query: `mutation { login(input: { email: "${planted}@example.com", password: "${planted}" }) { developer { id } } }`,
    variables: { planted },
  });
  await hostile.post('/api/v1/auth/login', `{"${planted}`);
  await new ApiClient(server.baseUrl, { bearer }).get('/api/v1/auth/me');
  await vi.waitFor(
    () =>
      expect(
        server.logLines.slice(before).filter((line) => line.includes('"request"')).length,
      ).toBeGreaterThanOrEqual(9),
    { timeout: 10_000 },
  );
  for (const line of server.logLines.slice(before)) {
    expect(line).not.toContain(planted);
    if (isRequest(JSON.parse(line))) requestLine.parse(JSON.parse(line));
  }
});

test.each([
  ['a', true],
  ['Az09._-', true],
  ['x'.repeat(64), true],
  ['x'.repeat(65), false],
  ['two words', false],
  ['a,b', false],
  ['<b>', false],
  ['"quoted"', false],
  ['a\u00e9', false],
  [`service_live_${'x'.repeat(43)}`, false],
])('the request id %s is accepted: %s', async (name, accepted) => {
  const client = new ApiClient(server.baseUrl, { headers: { 'X-Request-Id': name } });
  const answers = [
    await client.get('/health'),
    await client.get('/docs'),
    await client.get('/not/there'),
    await client.get('/api/v1/auth/me'),
    await client.post('/graphql', { query: '{ __typename }' }),
    await client.post(validatePath, {}),
    await client.post('/api/v1/session/init', { appId: 'none' }),
    await client.send('OPTIONS', validatePath),
  ];
  for (const { headers } of answers) {
    const id = headers.get('x-request-id');
    if (accepted) expect(id).toBe(name);
    else expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
  }
});

test("an error has the request's own request id", async () => {
  const { prisma } = server.deps.services.database;
  const broken = vi.spyOn(prisma.developer, 'findUnique').mockImplementation(() => {
    throw new Error('broken by the test');
  });
  const client = new ApiClient(server.baseUrl, { ...cookieOfWorld(), headers: { 'X-Request-Id': 'mine' } });
  const answer = await client.get('/api/v1/auth/me').finally(() => broken.mockRestore());
  expect(failureBody.parse(answer.body)).toMatchObject({ code: 'INTERNAL', requestId: 'mine' });
});

test('no request can break a line or control a terminal', async () => {
  const before = server.logLines.length;
  const { hostname, port } = new URL(server.baseUrl);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  // Characters that a header field can have (RFC 9110, obs-text), including C1 controls, and a tab.
  socket.write(
    Buffer.from(
      'GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\nUser-Agent: \x9b31m\x85\x7f\tend\r\nX-Request-Id: a\x85b\r\n\r\n'.replace(
        '\x7f',
        '',
      ),
      'latin1',
    ),
  );
  socket.resume();
  await once(socket, 'close');
  const line = await vi.waitFor(
    () => {
      const found = server.logLines.slice(before).find((text) => text.includes('end"'));
      if (found === undefined) throw new Error('the line is not there yet');
      return found;
    },
    { timeout: 30_000 },
  );
  expect(line).toMatch(/^[\x20-\x7e]+\n$/);
  expect(requestLine.parse(JSON.parse(line)).userAgent).toBe('?31m??end');
});
