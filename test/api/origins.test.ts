import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { ApiClient } from '../setup/api-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld, type World } from '../setup/world.ts';
import { apiKeyAnswer, expectFailure, expectSuccess } from './support.ts';

/** Cross-site requests: which pages may use the cookie and read responses. */

const own = 'https://dash.example.com';
const allowed = 'https://front.example.org';
let server: TestServer;
let world: World;
let applicationId: string;
let bearer: string;
beforeAll(async () => {
  server = await startTestServer({
    env: { PUBLIC_URL: `${own}/base`, CORS_ORIGINS: `${allowed},http://localhost:5173` },
  });
  world = await createWorld(server);
  applicationId = (await world.createApplication()).id;
  const created = await world.client.post('/api/v1/account/api-keys', { name: 'key' });
  bearer = expectSuccess(created, 201, apiKeyAnswer).key.apiKey;
});
afterAll(() => server.close());

const foreign = [
  'https://evil.example.com',
  'http://dash.example.com',
  'https://dash.example.com:8443',
  'https://dash.example.com.evil.example',
  'https://evil.dash.example.com',
  'https://example.com',
  'https://front.example.org.evil.example',
  'http://localhost:5174',
  'null',
  'rubbish',
  'file://',
  '*',
];
const from = (origin: string, client = world.client) => client.with({ headers: { Origin: origin } });
const version = async () => {
  const row = await server.deps.services.database.prisma.application.findUniqueOrThrow({
    where: { id: applicationId },
  });
  return row.version;
};

describe('an unsafe request with the session cookie', () => {
  test.each(foreign)('from %s is refused, and nothing happens', async (origin) => {
    const client = from(origin);
    const before = await version();
    for (const answer of [
      await client.patch(`/api/v1/apps/${applicationId}/settings`, { version: 'forged' }),
      await client.delete(`/api/v1/apps/${applicationId}`),
      await client.post('/api/v1/apps/create', { name: 'forged' }),
      await client.post('/api/v1/licenses/create', { applicationId, amount: 1, durationSeconds: 0 }),
      await client.post('/api/v1/account/api-keys', { name: 'forged' }),
      await client.post('/api/v1/auth/logout'),
      await client.post('/api/v1/auth/login', world.login),
    ]) {
      expectFailure(answer, 403, 'FORBIDDEN');
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expect(await version()).toBe(before);
    expect(await server.deps.services.database.prisma.application.count({ where: { name: 'forged' } })).toBe(
      0,
    );
  });

  test.each([own, allowed, 'http://localhost:5173'])('from %s passes', async (origin) => {
    const answer = await from(origin).patch(`/api/v1/apps/${applicationId}/settings`, { version: origin });
    expect(answer.status).toBe(200);
    expect(await version()).toBe(origin);
  });

  test('from the host that it was sent to passes', async () => {
    const answer = await from(server.baseUrl).patch(`/api/v1/apps/${applicationId}/settings`, {
      version: 'same host',
    });
    expect(answer.status).toBe(200);
  });

  test('without an origin passes', async () => {
    const answer = await world.client.patch(`/api/v1/apps/${applicationId}/settings`, { version: 'no page' });
    expect(answer.status).toBe(200);
  });
});

describe('an unsafe request that sets a cookie', () => {
  test.each(foreign)('from %s is refused even without a cookie', async (origin) => {
    const visitor = from(origin, new ApiClient(server.baseUrl));
    const email = `forged${Math.random()}@example.com`;
    for (const answer of [
      await visitor.post('/api/v1/auth/login', world.login),
      await visitor.post('/api/v1/auth/register', { email, password: 'correct horse battery', name: 'Eve' }),
      await visitor.post('/api/v1/auth/logout'),
    ]) {
      expectFailure(answer, 403, 'FORBIDDEN');
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expect(await server.deps.services.database.prisma.developer.count({ where: { email } })).toBe(0);
  });

  test.each([own, allowed])('from %s passes', async (origin) => {
    const visitor = from(origin, new ApiClient(server.baseUrl));
    const { email, password } = world.developer;
    expect((await visitor.post('/api/v1/auth/login', { email, password })).status).toBe(200);
  });
});

test('a safe request with the cookie passes from any origin: the browser hides the response from the page', async () => {
  const answer = await from('https://evil.example.com').get('/api/v1/auth/me');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('access-control-allow-origin')).toBeNull();
});

test('a request with a bearer key passes from any origin', async () => {
  for (const origin of foreign) {
    const client = from(origin, new ApiClient(server.baseUrl, { bearer }));
    const answer = await client.patch(`/api/v1/apps/${applicationId}/settings`, { version: 'by key' });
    expect(answer.status).toBe(200);
  }
});

test('a cookie together with a bearer key is still a cookie', async () => {
  const client = from('https://evil.example.com', world.client.with({ bearer }));
  expectFailure(await client.post('/api/v1/apps/create', { name: 'forged' }), 403, 'FORBIDDEN');
  const query = 'mutation { createApplication(input: { name: "forged" }) { application { id } } }';
  expectFailure(await client.post('/graphql', { query }), 403, 'FORBIDDEN');
});

test('an invalid cookie does not block a bearer key from any origin', async () => {
  for (const cookie of ['rubbish', '', 'a.b.c']) {
    const client = from('https://evil.example.com', new ApiClient(server.baseUrl, { bearer, cookie }));
    const answer = await client.patch(`/api/v1/apps/${applicationId}/settings`, { version: 'by key' });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  }
  const neither = from('https://evil.example.com', new ApiClient(server.baseUrl, { cookie: 'rubbish' }));
  expectFailure(await neither.post('/api/v1/apps/create', { name: 'forged' }), 403, 'FORBIDDEN');
});

describe('CORS', () => {
  const preflight = (origin: string) =>
    new ApiClient(server.baseUrl, {
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': 'PATCH',
        'Access-Control-Request-Headers': 'content-type',
      },
    }).send('OPTIONS', `/api/v1/apps/${applicationId}/settings`);

  test.each([allowed, 'http://localhost:5173'])('lets %s call with credentials', async (origin) => {
    const answer = await preflight(origin);
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('access-control-allow-credentials')).toBe('true');
    const methods = (answer.headers.get('access-control-allow-methods') ?? '').split(',');
    for (const method of ['GET', 'POST', 'PATCH', 'DELETE']) expect(methods).toContain(method);
    expect(answer.headers.get('access-control-allow-headers')).toMatch(/content-type/i);
    expect(answer.headers.get('vary')).toMatch(/origin/i);
  });

  test.each(foreign)('does not let %s', async (origin) => {
    const answer = await preflight(origin);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('an allowed page can read responses, including errors', async () => {
    const client = from(allowed);
    for (const answer of [
      await client.get('/api/v1/auth/me'),
      await client.get('/api/v1/apps/none'),
      await client.get('/api/v1/nothing'),
      await client.post('/api/v1/apps/create', {}),
      await from(allowed, new ApiClient(server.baseUrl)).get('/api/v1/auth/me'),
    ]) {
      expect(answer.headers.get('access-control-allow-origin')).toBe(allowed);
      expect(answer.headers.get('access-control-allow-credentials')).toBe('true');
    }
  });

  test('is off without CORS_ORIGINS', async () => {
    const closed = await startTestServer();
    try {
      const client = new ApiClient(closed.baseUrl, { headers: { Origin: allowed } });
      const answer = await client.get('/health');
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      const owner = await createWorld(closed);
      expectFailure(await from(allowed, owner.client).post('/api/v1/auth/logout'), 403, 'FORBIDDEN');
    } finally {
      await closed.close();
    }
  });
});

describe('a refused origin', () => {
  /** The log lines about refused origins, in order. */
  const refusals = (on: TestServer) =>
    on.logLines
      .map((line) =>
        z.looseObject({ msg: z.string(), origin: z.string().optional() }).parse(JSON.parse(line)),
      )
      .filter(({ msg }) => msg.includes('not in CORS_ORIGINS'));
  const startOwn = async () => {
    const started = await startTestServer({ env: { CORS_ORIGINS: allowed } });
    onTestFinished(() => started.close());
    return started;
  };
  const asks = (on: TestServer, origin: string) => from(origin, new ApiClient(on.baseUrl));

  test('is logged once for a read, a change or a preflight request', async () => {
    const on = await startOwn();
    for (const origin of ['https://a.example', 'https://b.example', 'https://c.example']) {
      const page = asks(on, origin);
      const requests = [
        () => page.get('/api/v1/auth/me'),
        () => page.post('/api/v1/auth/login', {}),
        () => page.send('OPTIONS', '/graphql'),
        () => page.post('/graphql', { query: '{ me { id } }' }),
      ];
      // Each of them is the first one once.
      const first = refusals(on).length;
      for (const ask of [...requests.slice(first), ...requests]) await ask();
    }
    expect(refusals(on).map(({ origin }) => origin)).toEqual([
      'https://a.example',
      'https://b.example',
      'https://c.example',
    ]);
  });

  test('is not logged for an allowed page, the same host, no origin, or the client protocol', async () => {
    const on = await startOwn();
    for (const origin of [allowed, on.baseUrl]) await asks(on, origin).post('/api/v1/auth/login', {});
    await new ApiClient(on.baseUrl).get('/api/v1/auth/me');
    for (const method of ['OPTIONS', 'POST']) {
      await asks(on, 'https://program.example').send(method, '/api/v1/session/init');
    }
    expect(refusals(on)).toEqual([]);
  });

  test('cannot flood the log: ten lines a minute, and the count of the others', async () => {
    const on = await startOwn();
    for (let turn = 0; turn < 50; turn++) {
      await asks(on, `https://${turn}.example`).get('/api/v1/auth/me');
    }
    expect(refusals(on)).toHaveLength(10);
    on.clock.step(60);
    await asks(on, `https://${'x'.repeat(1_000)}.example`).get('/api/v1/auth/me');
    const last = refusals(on).at(-1);
    expect(refusals(on)).toHaveLength(11);
    expect(last).toMatchObject({ suppressedWarnings: 40 });
    expect(last?.origin?.length).toBeLessThanOrEqual(100);
  });
});
