import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createApp } from '../../src/app.ts';
import { ApiClient } from '../setup/api-client.ts';
import { deviceRequestOf } from '../setup/device-request.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { databaseState } from '../setup/stored.ts';
import { createWorld, type World } from '../setup/world.ts';
import { apiKeyAnswer, bansAnswer, expectFailure, expectSuccess, missingId, userAnswer } from './support.ts';

/** The limits of the interface document, in requests per minute. */
const limits = {
  auth: 20,
  session: 60,
  validate: 120,
  clientAuth: 30,
  appCreate: 300,
  licenseCreate: 30,
  blindCreate: 30,
  accountSensitive: 20,
} as const;
type Limit = keyof typeof limits;

/** On this server, each limit is a different large number, so that a response shows which limit applied. */
const testLimits = Object.fromEntries(Object.keys(limits).map((name, index) => [name, 100_000 + index]));

/** Ids in a path: of an application or of its data. */
interface Ids {
  readonly app: string;
  readonly license: string;
  readonly user: string;
  readonly ban: string;
  readonly key: string;
}

interface Route {
  /** Method and path relative to the base URL. */
  readonly route: string;
  readonly success: number;
  readonly auth: 'developer' | 'public';
  readonly limit?: Limit;
  /** The documented errors of this route in addition to those of every route. */
  readonly errors?: Readonly<Record<string, number>>;
  /** The kind of `:id` in the path. */
  readonly id?: 'app' | 'license' | 'key';
  /** A valid body. */
  readonly body?: (ids: Ids, password: string) => Record<string, unknown>;
  /** The body contains an application id. */
  readonly appInBody?: true;
}

const invalid = { VALIDATION_FAILED: 400 };
const app = { APP_NOT_FOUND: 404 };
const license = { LICENSE_NOT_FOUND: 404 };
const wrong = { INVALID_CREDENTIALS: 401 };
const hash = () => randomBytes(32).toString('hex');
const sealedErrors = {
  CRYPTO_REQUIRED: 400,
  SESSION_EXPIRED: 401,
  DECRYPT_FAIL: 400,
  CLOCK_SKEW: 400,
  REPLAY: 400,
  ...invalid,
};
const vault = {
  vaultSaltB64: randomBytes(16).toString('base64'),
  vaultCheckB64: randomBytes(32).toString('base64'),
};

/** Every route of the interface document. */
const routes: readonly Route[] = [
  { route: 'GET /health', success: 200, auth: 'public' },
  {
    route: 'POST /api/v1/auth/register',
    success: 201,
    auth: 'public',
    limit: 'auth',
    errors: { ...invalid, EMAIL_TAKEN: 409, BOT_CHALLENGE_FAILED: 400, REGISTRATION_CLOSED: 403 },
  },
  {
    route: 'POST /api/v1/auth/login',
    success: 200,
    auth: 'public',
    limit: 'auth',
    errors: { ...invalid, ...wrong, BOT_CHALLENGE_FAILED: 400 },
  },
  { route: 'POST /api/v1/auth/logout', success: 200, auth: 'public' },
  { route: 'GET /api/v1/auth/me', success: 200, auth: 'developer' },
  {
    route: 'POST /api/v1/apps/create',
    success: 201,
    auth: 'developer',
    limit: 'appCreate',
    errors: { ...invalid, LIMIT_REACHED: 409 },
    body: () => ({ name: 'Another' }),
  },
  { route: 'GET /api/v1/apps/', success: 200, auth: 'developer', errors: invalid },
  { route: 'GET /api/v1/apps/:id', success: 200, auth: 'developer', id: 'app', errors: app },
  { route: 'DELETE /api/v1/apps/:id', success: 200, auth: 'developer', id: 'app', errors: app },
  {
    route: 'PATCH /api/v1/apps/:id/settings',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, ...invalid },
    body: () => ({ version: '2' }),
  },
  {
    route: 'GET /api/v1/apps/:id/bans',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, ...invalid },
  },
  {
    route: 'DELETE /api/v1/apps/:id/bans/:banId',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, BAN_NOT_FOUND: 404 },
  },
  {
    route: 'GET /api/v1/apps/:id/users',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, ...invalid },
  },
  {
    route: 'POST /api/v1/apps/:id/users',
    success: 201,
    auth: 'developer',
    id: 'app',
    errors: {
      ...app,
      ...invalid,
      ...license,
      LICENSE_REQUIRED: 400,
      USERNAME_TAKEN: 409,
      BANNED: 403,
      EXPIRED: 403,
      APP_MISMATCH: 403,
    },
    body: () => ({ username: 'another', password: 'a user password' }),
  },
  { route: 'GET /api/v1/apps/:id/users/export', success: 200, auth: 'developer', id: 'app', errors: app },
  {
    route: 'DELETE /api/v1/apps/:id/users/:userId',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, USER_NOT_FOUND: 404 },
  },
  {
    route: 'POST /api/v1/apps/:id/users/:userId/reset-hwid',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, USER_NOT_FOUND: 404, HWID_NOT_SET: 400, LICENSE_BANNED: 400 },
  },
  {
    route: 'GET /api/v1/apps/:id/licenses',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, ...invalid },
  },
  {
    route: 'POST /api/v1/apps/:id/licenses/extend',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, ...invalid },
    body: () => ({ seconds: 60 }),
  },
  {
    route: 'GET /api/v1/apps/:id/logs',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, ...invalid },
  },
  {
    route: 'POST /api/v1/licenses/create',
    success: 201,
    auth: 'developer',
    limit: 'licenseCreate',
    errors: { ...app, ...invalid, PRIVATE_MODE: 409 },
    appInBody: true,
    body: (ids) => ({ applicationId: ids.app, amount: 1, durationSeconds: 0 }),
  },
  {
    route: 'POST /api/v1/licenses/create-blind',
    success: 201,
    auth: 'developer',
    limit: 'blindCreate',
    errors: { ...app, ...invalid, KEY_EXISTS: 409 },
    appInBody: true,
    body: (ids) => ({
      applicationId: ids.app,
      keys: [{ licenseKeyHash: hash(), licenseKeyPrefix: 'KEY', durationSeconds: 0 }],
    }),
  },
  {
    route: 'POST /api/v1/licenses/:id/ban',
    success: 200,
    auth: 'developer',
    id: 'license',
    errors: { ...license, ...invalid, HWID_NOT_SET: 400, IP_NOT_KNOWN: 400 },
    body: () => ({ scope: 'hwid' }),
  },
  ...(['POST', 'PATCH'] as const).map((method) => ({
    route: `${method} /api/v1/licenses/:id/tier`,
    success: 200,
    auth: 'developer' as const,
    id: 'license' as const,
    errors: { ...license, ...invalid },
    body: () => ({ subscriptionTier: 3 }),
  })),
  {
    route: 'POST /api/v1/licenses/:id/reset-hwid',
    success: 200,
    auth: 'developer',
    id: 'license',
    errors: { ...license, HWID_NOT_SET: 400, LICENSE_BANNED: 400 },
  },
  {
    route: 'POST /api/v1/licenses/:id/offline-lease',
    success: 201,
    auth: 'developer',
    limit: 'licenseCreate',
    id: 'license',
    errors: {
      ...license,
      ...invalid,
      APP_MISMATCH: 403,
      BANNED: 403,
      EXPIRED: 403,
      HWID_MISMATCH: 403,
      HWID_BANNED: 403,
      LIMIT_REACHED: 409,
    },
    body: (ids) => ({ deviceRequest: deviceRequestOf(ids.app, 'device') }),
  },
  { route: 'DELETE /api/v1/licenses/:id', success: 200, auth: 'developer', id: 'license', errors: license },
  {
    route: 'POST /api/v1/session/init',
    success: 200,
    auth: 'public',
    limit: 'session',
    errors: { ...app, ...invalid, APP_DISABLED: 403, APP_OUTDATED: 403, IP_BANNED: 403 },
  },
  {
    route: 'POST /api/v1/licenses/validate',
    success: 200,
    auth: 'public',
    limit: 'validate',
    errors: sealedErrors,
  },
  ...['register', 'login', 'upgrade'].map((verb) => ({
    route: `POST /api/v1/client/${verb}`,
    success: 200,
    auth: 'public' as const,
    limit: 'clientAuth' as const,
    errors: sealedErrors,
  })),
  { route: 'GET /api/v1/metrics/overview', success: 200, auth: 'developer' },
  {
    route: 'POST /api/v1/account/mask',
    success: 200,
    auth: 'developer',
    errors: invalid,
    body: () => ({ mask: null }),
  },
  {
    route: 'POST /api/v1/account/mode',
    success: 200,
    auth: 'developer',
    limit: 'accountSensitive',
    errors: { ...invalid, ...wrong },
    body: (_ids, password) => ({ mode: 'private', password }),
  },
  {
    route: 'POST /api/v1/account/vault',
    success: 200,
    auth: 'developer',
    limit: 'accountSensitive',
    errors: { ...invalid, ...wrong },
    body: (_ids, password) => ({ ...vault, password }),
  },
  {
    route: 'POST /api/v1/account/api-keys',
    success: 201,
    auth: 'developer',
    errors: { ...invalid, LIMIT_REACHED: 409 },
    body: () => ({ name: 'another' }),
  },
  { route: 'GET /api/v1/account/api-keys', success: 200, auth: 'developer', errors: invalid },
  {
    route: 'POST /api/v1/account/api-keys/:id/revoke',
    success: 200,
    auth: 'developer',
    id: 'key',
    errors: { API_KEY_NOT_FOUND: 404 },
  },
  {
    route: 'PATCH /api/v1/account/profile',
    success: 200,
    auth: 'developer',
    limit: 'accountSensitive',
    errors: { ...invalid, ...wrong, EMAIL_TAKEN: 409 },
    body: (_ids, password) => ({ name: 'Ada', password }),
  },
  { route: 'GET /api/v1/account/export', success: 200, auth: 'developer', limit: 'accountSensitive' },
  {
    route: 'POST /api/v1/account/delete',
    success: 200,
    auth: 'developer',
    limit: 'accountSensitive',
    errors: { ...invalid, ...wrong },
    body: (_ids, password) => ({ confirm: 'DELETE', password }),
  },
];

/** Routes that are not in the interface document: pages, GraphQL, protocol version 2, and a variant without a slash. */
const beside =
  /^(GET \/|GET \/health\/ready|GET \/api\/v1\/openapi\.json|GET \/docs(\/.*)?|(GET|POST|OPTIONS) \/graphql|GET \/graphql\/.*|GET \/api\/v2\/(keys|revocations)\/:appId|POST \/api\/v2\/call|GET \/api\/v1\/apps)$/;

const dashboard = routes.filter(({ auth }) => auth === 'developer');
const methodOf = ({ route }: Route) => route.split(' ')[0] ?? '';
const isUnsafe = (row: Route) => methodOf(row) !== 'GET';
const pathOf = ({ route, id = 'app' }: Route, ids: Ids) =>
  (route.split(' ')[1] ?? '').replace(':id', ids[id]).replace(':userId', ids.user).replace(':banId', ids.ban);
const send = (client: ApiClient, row: Route, ids: Ids, password = '') =>
  client.send(methodOf(row), pathOf(row, ids), row.body?.(ids, password));

let server: TestServer;
beforeAll(async () => {
  const rateLimits = Object.entries({ ...testLimits, apiKeyAuth: 100_000 }).map(
    ([name, n]) => `${name}=${n}`,
  );
  server = await startTestServer({ env: { RATE_LIMITS: rateLimits.join() } });
});
afterAll(() => server.close());

const missing: Ids = { app: missingId, license: missingId, user: missingId, ban: missingId, key: missingId };

interface FullAccount {
  readonly world: World;
  readonly ids: Ids;
  readonly apiKey: string;
}

/** A developer with one item of each kind. */
async function createFullAccount(): Promise<FullAccount> {
  const world = await createWorld(server);
  const { client } = world;
  const application = await world.createApplication();
  await application.settings({ requireLicenseToRegister: false });
  const minted = await application.mintOne({ durationSeconds: 3_600 });
  const spare = await application.mintOne();
  const created = await client.post(`/api/v1/apps/${application.id}/users`, {
    username: 'grace',
    password: 'a user password',
    licenseKey: minted.licenseKey,
  });
  const session = await openSession(server, application);
  await session.ask(validatePath, { licenseKey: minted.licenseKey, hwid: 'device' });
  await client.post(`/api/v1/licenses/${spare.id}/ban`, { scope: 'hwid_and_ip', ip: '203.0.113.1' });
  const bans = await client.get(`/api/v1/apps/${application.id}/bans`);
  const key = await client.post('/api/v1/account/api-keys', { name: 'key' });
  const { apiKey, id: keyId } = expectSuccess(key, 201, apiKeyAnswer).key;
  const ids = {
    app: application.id,
    license: minted.id,
    user: expectSuccess(created, 201, userAnswer).user.id,
    ban: expectSuccess(bans, 200, bansAnswer).bans[0]?.id ?? '',
    key: keyId,
  };
  return { world, ids, apiKey };
}

const operation = z.object({
  responses: z.record(z.string(), z.unknown()),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  'x-rate-limit': z.object({ name: z.string(), requests: z.int(), windowSeconds: z.int() }).optional(),
});
const document = z.object({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({ responses: z.record(z.string(), z.unknown()).default({}) }),
});
const reference = z.object({ $ref: z.string() });

describe('the table of routes', () => {
  let documented: Map<string, z.infer<typeof operation>>;
  /** A response as text, or the shared response that it refers to. */
  let textOf: (response: unknown) => string;
  beforeAll(async () => {
    const { paths, components } = document.parse(
      (await new ApiClient(server.baseUrl).get('/api/v1/openapi.json')).body,
    );
    textOf = (response) => {
      const { data } = reference.safeParse(response);
      return JSON.stringify(data ? components.responses[data.$ref.split('/').at(-1) ?? ''] : response) ?? '';
    };
    documented = new Map(
      Object.entries(paths).flatMap(([path, operations]) =>
        Object.entries(operations).map(([method, value]) => [
          `${method.toUpperCase()} /api/v1${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
          value,
        ]),
      ),
    );
  });

  test('has exactly the routes of the service', () => {
    const served = createApp(server.deps)
      .routes.filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path}`)
      .filter((route) => !beside.test(route));
    const known = routes.map(({ route }) => route);
    expect([...new Set(served)].sort()).toEqual([...known].sort());
    const inDocument = known.filter((route) => route !== 'GET /health');
    expect([...documented.keys()].sort()).toEqual(inDocument.sort());
  });

  test.each(routes.filter(({ route }) => route !== 'GET /health'))(
    'agrees with the OpenAPI document: $route',
    (row) => {
      const found = documented.get(row.route);
      const responses = found?.responses ?? {};
      const successes = Object.keys(responses).filter((status) => status.startsWith('2'));
      expect(successes).toEqual([String(row.success)]);
      expect((found?.security ?? []).length > 0).toBe(row.auth === 'developer');
      expect(found?.['x-rate-limit']).toEqual(
        row.limit && { name: row.limit, requests: limits[row.limit], windowSeconds: 60 },
      );
      const expected = {
        ...row.errors,
        ...(row.auth === 'developer' && { UNAUTHENTICATED: 401, RATE_LIMITED: 429 }),
        ...(row.auth === 'developer' && isUnsafe(row) && { FORBIDDEN: 403 }),
        ...(row.limit && { RATE_LIMITED: 429 }),
      };
      for (const [code, status] of Object.entries(expected)) {
        expect(textOf(responses[status]), code).toMatch(new RegExp(`\\b${code}\\b`));
      }
    },
  );

  test.each(routes)('$route counts towards exactly its documented limit', async (row) => {
    const answer = await send(new ApiClient(server.baseUrl), row, missing);
    const expected = row.limit === undefined ? null : String(testLimits[row.limit]);
    expect(answer.headers.get('ratelimit-limit')).toBe(expected);
  });
});

describe('a dashboard route', () => {
  let victim: FullAccount;
  let attacker: FullAccount;
  let revoked: string;
  let before: Record<string, unknown>;
  beforeAll(async () => {
    victim = await createFullAccount();
    attacker = await createFullAccount();
    const key = await victim.world.client.post('/api/v1/account/api-keys', { name: 'revoked' });
    const made = expectSuccess(key, 201, apiKeyAnswer).key;
    revoked = made.apiKey;
    await victim.world.client.post(`/api/v1/account/api-keys/${made.id}/revoke`);
    before = await databaseState(server);
  });

  /** A cookie with one changed character. */
  const tampered = (cookie: string, at: number) =>
    `${cookie.slice(0, at)}${cookie[at] === 'A' ? 'B' : 'A'}${cookie.slice(at + 1)}`;
  const cookieOfVictim = async () => {
    const { email, password } = victim.world.developer;
    const answer = await new ApiClient(server.baseUrl).post('/api/v1/auth/login', { email, password });
    return /service_session=([^;]+)/.exec(answer.headers.getSetCookie()[0] ?? '')?.[1] ?? '';
  };

  test.each(dashboard)('$route refuses unauthenticated requests, whatever the body', async (row) => {
    const { ids, world } = victim;
    const anonymous = new ApiClient(server.baseUrl);
    expectFailure(await send(anonymous, row, ids, world.developer.password), 401, 'UNAUTHENTICATED');
    expectFailure(await send(anonymous.with({ cookie: '' }), row, ids), 401, 'UNAUTHENTICATED');
    if (row.body === undefined) return;
    const answer = await anonymous.send(methodOf(row), pathOf(row, ids), { rubbish: true });
    expectFailure(answer, 401, 'UNAUTHENTICATED');
  });

  test.each(dashboard)('$route refuses a revoked key', async (row) => {
    const client = new ApiClient(server.baseUrl, { bearer: revoked });
    expectFailure(
      await send(client, row, victim.ids, victim.world.developer.password),
      401,
      'UNAUTHENTICATED',
    );
  });

  test('each refuses a tampered cookie', async () => {
    const cookie = await cookieOfVictim();
    const [head = '', claims = '', signature = ''] = cookie.split('.');
    const middle = head.length + 1 + Math.floor(claims.length / 2);
    const forged = [
      tampered(cookie, middle),
      tampered(cookie, head.length + claims.length + 2 + Math.floor(signature.length / 2)),
      `${head}.${claims}.`,
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`,
    ];
    for (const [index, row] of dashboard.entries()) {
      const client = new ApiClient(server.baseUrl, { cookie: forged[index % forged.length] ?? '' });
      expectFailure(
        await send(client, row, victim.ids, victim.world.developer.password),
        401,
        'UNAUTHENTICATED',
      );
    }
  });

  test.each(dashboard.filter(isUnsafe))('$route refuses the cookie from a foreign page', async (row) => {
    const { ids, world } = victim;
    for (const origin of ['https://evil.example', 'null']) {
      const client = world.client.with({ headers: { Origin: origin } });
      expectFailure(await send(client, row, ids, world.developer.password), 403, 'FORBIDDEN');
    }
  });

  test.each(dashboard.filter((row) => row.id !== undefined || row.appInBody))(
    '$route gives the same response for another developer’s data as for missing data',
    async (row) => {
      const { client, developer } = attacker.world;
      const none = await send(client, row, missing, developer.password);
      expect(none.status, JSON.stringify(none.body)).toBe(404);
      const foreign = await send(client, row, victim.ids, developer.password);
      expect({ status: foreign.status, body: foreign.body }).toEqual({ status: 404, body: none.body });
      const names = [...foreign.headers.keys()].filter(
        (name) => !/^(date|x-request-id|ratelimit)/.test(name),
      );
      expect(names).toEqual([...none.headers.keys()].filter((name) => names.includes(name)));
      if (!/:userId|:banId/.test(row.route)) return;
      const own = { app: attacker.ids.app };
      const throughOwn = await send(client, row, { ...victim.ids, ...own });
      const noneOfOwn = await send(client, row, { ...missing, ...own });
      expect(throughOwn.status).toBe(404);
      expect(throughOwn.body).toEqual(noneOfOwn.body);
    },
  );

  test.each(dashboard.filter((row) => !isUnsafe(row) && row.id === undefined))(
    '$route shows no data of another developer',
    async (row) => {
      const answer = await send(attacker.world.client, row, attacker.ids);
      expect(answer.status).toBe(200);
      const text = JSON.stringify(answer.body);
      for (const id of [victim.world.developer.id, ...Object.values(victim.ids)])
        expect(text).not.toContain(id);
    },
  );

  test('none of these requests has changed data of the victim', async () => {
    const after = await databaseState(server);
    const ofVictim = (state: Record<string, unknown>, table: string) =>
      z
        .array(z.looseObject({ id: z.string(), event: z.string().optional() }))
        .parse(state[table])
        .filter((row) =>
          [victim.world.developer.id, victim.ids.app].some((id) => JSON.stringify(row).includes(id)),
        )
        // The test itself logs in.
        .filter(({ event }) => event !== 'developer_logged_in');
    for (const table of [
      'developers',
      'applications',
      'licenses',
      'end_users',
      'bans',
      'api_keys',
      'security_log',
    ]) {
      const rows = ofVictim(before, table);
      expect(rows.length, table).toBeGreaterThan(0);
      expect(ofVictim(after, table), table).toEqual(rows);
    }
  });

  test.each(dashboard)('$route accepts an API key from any page', async (row) => {
    const { world, ids, apiKey } = await createFullAccount();
    const client = new ApiClient(server.baseUrl, {
      bearer: apiKey,
      headers: { Origin: 'https://elsewhere.example' },
    });
    const answer = await send(client, row, ids, world.developer.password);
    expect(answer.status, JSON.stringify(answer.body)).toBe(row.success);
    expect(answer.body).toMatchObject({ success: true });
  });
});

test('the public routes need no credential', async () => {
  const visitor = new ApiClient(server.baseUrl);
  expect(await visitor.get('/health')).toMatchObject({ status: 200, body: { ok: true } });
  expect((await visitor.post('/api/v1/auth/logout')).status).toBe(200);
  const world = await createWorld(server);
  const application = await world.createApplication();
  const { licenseKey } = await application.mintOne();
  const higher = await application.mintOne({ subscriptionTier: 1 });
  const session = await openSession(server, application);
  const user = { username: 'grace', password: 'a user password' };
  expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'OK' });
  expect(await session.ask('/api/v1/client/register', { ...user, licenseKey })).toMatchObject({ code: 'OK' });
  expect(await session.ask('/api/v1/client/login', user)).toMatchObject({ code: 'OK' });
  expect(
    await session.ask('/api/v1/client/upgrade', { username: 'grace', licenseKey: higher.licenseKey }),
  ).toMatchObject({ code: 'OK' });
});

test('an API key does not authenticate in the client protocol', async () => {
  const { apiKey, world } = await createFullAccount();
  const client = world.client.with({ bearer: apiKey });
  for (const path of ['/licenses/validate', '/client/register', '/client/login', '/client/upgrade']) {
    const answer = await client.post(`/api/v1${path}`, { licenseKey: 'x', username: 'grace' });
    expectFailure(answer, 400, 'CRYPTO_REQUIRED');
  }
});
