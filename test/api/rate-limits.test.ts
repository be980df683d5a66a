import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ApiAnswer, ApiClient, randomIp } from '../setup/api-client.ts';
import { GraphqlClient } from '../setup/graphql-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld, type World } from '../setup/world.ts';
import { apiKeyAnswer, expectFailure, expectSuccess } from './support.ts';

let server: TestServer;
let world: World;
let applicationId: string;
let apiKey: string;
beforeAll(async () => {
  server = await startTestServer();
  world = await createWorld(server);
  applicationId = (await world.createApplication()).id;
  const created = await world.client.post('/api/v1/account/api-keys', { name: 'key' });
  apiKey = expectSuccess(created, 201, apiKeyAnswer).key.apiKey;
});
afterAll(() => server.close());

type Ask = (client: ApiClient) => Promise<ApiAnswer>;

const login: Ask = (client) => client.post('/api/v1/auth/login', {});
const register: Ask = (client) => client.post('/api/v1/auth/register', {});
const mint: Ask = (client) => client.post('/api/v1/licenses/create', {});
const makeApplication: Ask = (client) => client.post('/api/v1/apps/create', {});
const badBearer: Ask = (client) => client.with({ bearer: 'rubbish' }).get('/api/v1/auth/me');

/** Sends requests concurrently and counts the statuses. */
async function statuses(ask: Ask, client: ApiClient, times: number): Promise<Record<number, number>> {
  const answers = await Promise.all(Array.from({ length: times }, () => ask(client)));
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const limited = (answer: ApiAnswer) => {
  const names = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After'];
  return Object.fromEntries(names.map((name) => [name, answer.headers.get(name)]));
};

describe('licenses created by a developer', () => {
  test('are counted together over REST and GraphQL and all addresses', async () => {
    const own = await startTestServer({ env: { RATE_LIMITS: 'licenseRows=100' } });
    try {
      const ada = await createWorld(own);
      const { id } = await ada.createApplication();
      const rest = (amount: number, client = ada.client) =>
        client
          .with({ ip: randomIp() })
          .post('/api/v1/licenses/create', { applicationId: id, amount, durationSeconds: 0 });
      const graphql = new GraphqlClient(ada.client.with({ ip: randomIp() }));
      const overGraphql = (amount: number) =>
        graphql.ask('mutation ($i: CreateLicensesInput!) { createLicenses(input: $i) { warning } }', {
          i: { applicationId: id, amount, durationSeconds: 0 },
        });
      const blind = Array.from({ length: 11 }, (_, index) => ({
        licenseKeyHash: index.toString(16).padStart(64, '0'),
        licenseKeyPrefix: 'AB',
        durationSeconds: 0,
      }));
      const overBlind = (keys: unknown) =>
        ada.client.post('/api/v1/licenses/create-blind', { applicationId: id, keys });

      expect((await rest(60)).status).toBe(201);
      expect((await overGraphql(41)).errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }]);
      expect((await overGraphql(30)).errors).toEqual([]);
      const refused = await overBlind(blind);
      expectFailure(refused, 429, 'RATE_LIMITED');
      expect(refused.body).toMatchObject({ error: expect.stringContaining('10 are left') });
      expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
      expect(Number(refused.headers.get('Retry-After'))).toBeLessThanOrEqual(60);
      expect((await overBlind(blind.slice(1))).status).toBe(201);
      expect((await rest(1)).status).toBe(429);

      const grace = await createWorld(own);
      expect(await (await grace.createApplication()).mint({ amount: 100 })).toHaveLength(100);
    } finally {
      await own.close();
    }
  });
});

describe.each<[name: string, ask: Ask, limit: number, refused: number]>([
  ['logging in', login, 20, 400],
  ['registering', register, 20, 400],
  ['minting without a credential', mint, 30, 401],
  ['making an application without a credential', makeApplication, 300, 401],
  ['making one with one', (client) => makeApplication(client.with({ bearer: apiKey })), 300, 400],
  ['minting with one', (client) => mint(client.with({ bearer: apiKey })), 30, 400],
])('%s', (_name, ask, limit, refused) => {
  test(`is admitted exactly ${limit} times a minute, however many requests are concurrent`, async () => {
    const client = new ApiClient(server.baseUrl);
    expect(await statuses(ask, client, limit + 25)).toEqual({ [refused]: limit, 429: 25 });
    const answer = await ask(client);
    expectFailure(answer, 429, 'RATE_LIMITED');
  });

  test('counts each address separately', async () => {
    const client = new ApiClient(server.baseUrl);
    await statuses(ask, client, limit);
    expect((await ask(client)).status).toBe(429);
    expect((await ask(client.with({ ip: randomIp() }))).status).toBe(refused);
  });

  test('reports the remaining requests and the reset time', async () => {
    const client = new ApiClient(server.baseUrl);
    for (let remaining = limit - 1; remaining >= limit - 3; remaining--) {
      const headers = limited(await ask(client));
      expect(headers).toMatchObject({
        'RateLimit-Limit': String(limit),
        'RateLimit-Remaining': String(remaining),
        'Retry-After': null,
      });
      expect(Number(headers['RateLimit-Reset'])).toBeGreaterThanOrEqual(1);
      expect(Number(headers['RateLimit-Reset'])).toBeLessThanOrEqual(60);
    }
    await statuses(ask, client, limit);
    const answer = await ask(client);
    const headers = limited(answer);
    expect(headers).toMatchObject({ 'RateLimit-Limit': String(limit), 'RateLimit-Remaining': '0' });
    expect(headers['Retry-After']).toMatch(/^[1-9]\d?$/);
    expect(headers['Retry-After']).toBe(headers['RateLimit-Reset']);
    expect(expectFailure(answer, 429, 'RATE_LIMITED').error).toContain(`${headers['Retry-After']} s`);
  });
});

test('registering and logging in share a limit, minting has another', async () => {
  const client = new ApiClient(server.baseUrl);
  await statuses(login, client, 10);
  await statuses(register, client, 10);
  expect((await login(client)).status).toBe(429);
  expect((await register(client)).status).toBe(429);
  expect((await mint(client)).status).toBe(401);
});

test('successful logins count like failed ones', async () => {
  const client = new ApiClient(server.baseUrl);
  await statuses(login, client, 18);
  const { email, password } = world.developer;
  const good: Ask = (asking) => asking.post('/api/v1/auth/login', { email, password });
  expect(await statuses(good, client, 5)).toEqual({ 200: 2, 429: 3 });
});

test('a refused request does no work: nothing is registered or minted beyond the limit', async () => {
  const { prisma } = server.deps.services.database;
  const client = world.client.with({ ip: randomIp() });
  const mintOne: Ask = (asking) =>
    asking.post('/api/v1/licenses/create', { applicationId, amount: 1, durationSeconds: 0 });
  const before = await prisma.license.count();
  expect(await statuses(mintOne, client, 40)).toEqual({ 201: 30, 429: 10 });
  expect(await prisma.license.count()).toBe(before + 30);
});

test('other routes have no limit', async () => {
  const client = world.client.with({ ip: randomIp() });
  expect(await statuses((asking) => asking.get('/api/v1/auth/me'), client, 70)).toEqual({ 200: 70 });
  expect(limited(await client.get('/api/v1/auth/me'))['RateLimit-Limit']).toBeNull();
  const logout: Ask = (asking) => asking.post('/api/v1/auth/logout');
  const elsewhere = (await createWorld(server)).client;
  expect(await statuses(logout, elsewhere, 70)).toEqual({ 200: 70 });
});

describe('failed bearer attempts', () => {
  test('are admitted exactly 30 times a minute, however many are concurrent', async () => {
    const client = new ApiClient(server.baseUrl);
    expect(await statuses(badBearer, client, 60)).toEqual({ 401: 30, 429: 30 });
    const answer = await badBearer(client);
    expectFailure(answer, 429, 'RATE_LIMITED');
    expect(limited(answer)).toMatchObject({ 'RateLimit-Limit': '30', 'RateLimit-Remaining': '0' });
    expect(answer.headers.get('Retry-After')).toMatch(/^[1-9]\d?$/);
  });

  test('are admitted exactly 30 times even if all pass the first check', async () => {
    const client = new ApiClient(server.baseUrl);
    const { store } = server.deps.services;
    const peek = store.peek.bind(store);
    const atOnce = 50;
    let arrived = 0;
    let letIn = () => {};
    const allArrived = new Promise<void>((resolve) => {
      letIn = resolve;
    });
    const spy = vi.spyOn(store, 'peek').mockImplementation(async (...question) => {
      const outcome = await peek(...question);
      arrived += 1;
      if (arrived === atOnce) letIn();
      await allArrived;
      return outcome;
    });
    try {
      expect(await statuses(badBearer, client, atOnce)).toEqual({ 401: 30, 429: 20 });
    } finally {
      spy.mockRestore();
    }
  });

  test('are the only ones that count: valid keys, cookies and requests without credentials do not', async () => {
    const client = new ApiClient(server.baseUrl);
    const good: Ask = (asking) => asking.with({ bearer: apiKey }).get('/api/v1/auth/me');
    expect(await statuses(good, client, 100)).toEqual({ 200: 100 });
    expect(await statuses((asking) => asking.get('/api/v1/auth/me'), client, 40)).toEqual({ 401: 40 });
    const cookie: Ask = () => world.client.with({ ip: client.ip, bearer: 'rubbish' }).get('/api/v1/auth/me');
    expect(await statuses(cookie, client, 40)).toEqual({ 200: 40 });
    expect(await statuses(badBearer, client, 35)).toEqual({ 401: 30, 429: 5 });
  });

  test('beyond the limit also refuse valid keys from that address, so that guessing reveals nothing', async () => {
    const client = new ApiClient(server.baseUrl);
    await statuses(badBearer, client, 30);
    const good = await client.with({ bearer: apiKey }).get('/api/v1/auth/me');
    expectFailure(good, 429, 'RATE_LIMITED');
    expect((await world.client.with({ ip: client.ip }).get('/api/v1/auth/me')).status).toBe(200);
    expect((await new ApiClient(server.baseUrl, { bearer: apiKey }).get('/api/v1/auth/me')).status).toBe(200);
  });

  test('count on every route, and for well-formed and revoked keys', async () => {
    const client = new ApiClient(server.baseUrl);
    const { prisma } = server.deps.services.database;
    const created = await world.client.post('/api/v1/account/api-keys', { name: 'revoked' });
    const { key } = expectSuccess(created, 201, apiKeyAnswer);
    await prisma.apiKey.update({ where: { id: key.id }, data: { revokedAt: new Date() } });
    const bearers = ['rubbish', `service_live_${'A'.repeat(43)}`, key.apiKey];
    const asks: Ask[] = bearers.flatMap((bearer): Ask[] => [
      (asking) => asking.with({ bearer }).get('/api/v1/apps/'),
      (asking) => asking.with({ bearer }).post('/api/v1/apps/create', {}),
      (asking) => asking.with({ bearer }).delete(`/api/v1/apps/${applicationId}`),
      (asking) => asking.with({ bearer }).post('/api/v1/account/api-keys', {}),
      (asking) => asking.with({ bearer }).get(`/api/v1/apps/${applicationId}/licenses`),
    ]);
    for (const ask of [...asks, ...asks]) expect((await ask(client)).status).toBe(401);
    for (const ask of asks) expectFailure(await ask(client), 429, 'RATE_LIMITED');
  });
});

test('RATE_LIMITS changes only the limits that it names', async () => {
  const strict = await startTestServer({ env: { RATE_LIMITS: 'auth=3,apiKeyAuth=2' } });
  try {
    const client = new ApiClient(strict.baseUrl);
    expect(limited(await login(client))['RateLimit-Limit']).toBe('3');
    expect(await statuses(login, client, 5)).toEqual({ 400: 2, 429: 3 });
    expect(await statuses(badBearer, client, 5)).toEqual({ 401: 2, 429: 3 });
    expect(limited(await mint(client))['RateLimit-Limit']).toBe('30');
  } finally {
    await strict.close();
  }
});
