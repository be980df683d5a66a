import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Scope, scopes } from '../../src/services/scopes.ts';
import { ApiClient } from '../setup/api-client.ts';
import { sql } from '../setup/stored.ts';
import { forTest, useServer } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';
import {
  apiKeyAnswer,
  apiKeysAnswer,
  doneAnswer,
  expectFailure,
  expectIssue,
  expectSuccess,
  listedApiKeyAnswer,
  logsAnswer,
  metricsAnswer,
  missingId,
  noLimits,
} from './support.ts';

/** What an API key opens: scopes, one application, networks, and how long. `graphql/scopes.test.ts` has every operation. */

const server = useServer({ env: noLimits });
const world = forTest(() => createWorld(server));

const keys = '/api/v1/account/api-keys';
type Members = Readonly<Record<string, unknown>>;

const create = async (members: Members = {}, client: ApiClient = world.client) =>
  expectSuccess(await client.post(keys, { name: 'key', ...members }), 201, apiKeyAnswer).key;
const by = (bearer: string, ip?: string) => new ApiClient(server.baseUrl, { bearer, ...(ip && { ip }) });
const change = (id: string, members: Members, client: ApiClient = world.client) =>
  client.patch(`${keys}/${id}`, members);
const rotate = (id: string, overlapSeconds: number, client: ApiClient = world.client) =>
  client.post(`${keys}/${id}/rotate`, { overlapSeconds });
const rotated = async (...given: Parameters<typeof rotate>) =>
  expectSuccess(await rotate(...given), 200, apiKeyAnswer).key;
const inSeconds = (seconds: number) => new Date(server.clock.now() + seconds * 1000).toISOString();
const expectGood = async (client: ApiClient) =>
  expect((await client.get('/api/v1/auth/me')).status).toBe(200);
const expectEnded = async (client: ApiClient, message: RegExp) =>
  expect(expectFailure(await client.get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED').error).toMatch(message);
const expectNotMore = async (answer: Promise<Parameters<typeof expectFailure>[0]>, message: RegExp) =>
  expect(expectFailure(await answer, 403, 'INSUFFICIENT_SCOPE').error).toMatch(message);

describe('scopes', () => {
  test('are all by default, and the answer warns that the key opens the whole account', async () => {
    const answer = expectSuccess(await world.client.post(keys, { name: 'all' }), 201, apiKeyAnswer);
    expect(answer.key).toMatchObject({
      scopes: [...scopes],
      applicationId: null,
      allowedCidrs: [],
      expiresAt: null,
    });
    expect(answer.warning).toContain('opens the whole account');
    const limited = await world.client.post(keys, { name: 'one', scopes: ['logs:read'] });
    expect(expectSuccess(limited, 201, apiKeyAnswer).warning).not.toContain('whole account');
  });

  test('are all for keys that the version before has created', async () => {
    const { id, apiKey } = await create();
    await sql(
      server,
      `WITH old AS (DELETE FROM api_keys WHERE id = $1 RETURNING *)
       INSERT INTO api_keys (id, developer_id, name, key_hash, key_prefix, created_at)
       SELECT id, developer_id, name, key_hash, key_prefix, created_at FROM old`,
      [id],
    );
    await expectGood(by(apiKey));
    await create({}, by(apiKey));
    const [listed] = expectSuccess(await world.client.get(keys), 200, apiKeysAnswer).keys.slice(-1);
    expect(listed).toMatchObject({ id, scopes: [...scopes] });
  });

  test('can be named in pairs, and are shown once each, in one order', async () => {
    const given = ['account:*', 'webhooks:*', 'users:write', 'users:*', 'applications:*', 'licenses:read'];
    expect((await create({ scopes: given })).scopes).toEqual([
      'licenses:read',
      'users:read',
      'users:write',
      'applications:read',
      'applications:write',
      'webhooks:read',
      'webhooks:write',
      'account:read',
      'account:write',
    ]);
  });

  test.each([[[]], [['*']], [['licenses:*']], [['licenses']], ['licenses:read'], [null]])(
    'are refused: %j',
    async (given) => {
      const answer = await world.client.post(keys, { name: 'key', scopes: given });
      expectFailure(answer, 400, 'VALIDATION_FAILED');
    },
  );

  test('that the database has and the service does not know open nothing', async () => {
    const { id, apiKey } = await create({ scopes: ['account:read'] });
    await sql(server, `UPDATE api_keys SET scopes = '{moon:write}' WHERE id = $1`, [id]);
    await expectNotMore(by(apiKey).get('/api/v1/auth/me'), /account:read/);
  });
});

describe('a key for one application', () => {
  test('lists only it, also in metrics, and has no scope for the account', async () => {
    const [own, other] = [await world.createApplication(), await world.createApplication({ name: 'Other' })];
    await own.mintOne();
    await other.mint({ amount: 3 });
    const client = by((await create({ applicationId: own.id })).apiKey);
    const listed = await client.get('/api/v1/apps/');
    expect(
      z.object({ applications: z.array(z.object({ id: z.string() })) }).parse(listed.body).applications,
    ).toMatchObject([{ id: own.id }]);
    const { metrics } = expectSuccess(await client.get('/api/v1/metrics/overview'), 200, metricsAnswer);
    expect([metrics.applications.total, metrics.licenses.total]).toEqual([1, 1]);
    expectFailure(await client.get(`/api/v1/apps/${other.id}`), 404, 'APP_NOT_FOUND');
    for (const path of ['auth/me', 'account/export', 'account/api-keys']) {
      await expectNotMore(client.get(`/api/v1/${path}`), /for one application.* account:read/);
    }
    await expectNotMore(client.post('/api/v1/apps/create', { name: 'New' }), /for one application/);
    await expectNotMore(client.post(keys, { name: 'New', applicationId: own.id }), /for one application/);
  });

  test('is for an application that the developer has', async () => {
    const { id } = await (await createWorld(server)).createApplication();
    for (const applicationId of [id, missingId]) {
      expectFailure(await world.client.post(keys, { name: 'key', applicationId }), 404, 'APP_NOT_FOUND');
    }
  });

  test('ends with it, and opens nothing else then', async () => {
    const { id } = await world.createApplication();
    const [bound, free] = [await create({ applicationId: id }), await create()];
    expect((await by(bound.apiKey).delete(`/api/v1/apps/${id}`)).status).toBe(200);
    expectFailure(await by(bound.apiKey).get('/api/v1/apps/'), 401, 'UNAUTHENTICATED');
    await expectGood(by(free.apiKey));
  });

  test('opens nothing if the version before has deleted its application', async () => {
    const { id } = await world.createApplication();
    await world.createApplication();
    const { apiKey } = await create({ applicationId: id });
    await sql(server, 'DELETE FROM applications WHERE id = $1', [id]);
    expect((await by(apiKey).get('/api/v1/apps/')).body).toMatchObject({ applications: [] });
    expectFailure(await by(apiKey).get(`/api/v1/apps/${id}`), 404, 'APP_NOT_FOUND');
  });
});

describe('allowed networks', () => {
  test('are the only ones from which a key may be used, in IPv4 and IPv6', async () => {
    const { apiKey, allowedCidrs } = await create({
      allowedCidrs: ['192.0.2.0/25', '198.51.100.7', '2001:DB8::/32', '::ffff:203.0.113.0/120'],
    });
    expect(allowedCidrs).toEqual(['192.0.2.0/25', '198.51.100.7/32', '2001:db8::/32', '203.0.113.0/24']);
    for (const ip of ['192.0.2.127', '198.51.100.7', '2001:db8:1::1', '203.0.113.9', '::ffff:192.0.2.1']) {
      await expectGood(by(apiKey, ip));
    }
    for (const ip of ['192.0.2.128', '198.51.100.8', '2001:db9::1', '::1', '10.0.0.1']) {
      await expectEnded(by(apiKey, ip), /not be used from this address/);
    }
  });

  test('do not make a request with a good key from elsewhere count as guessing', async () => {
    const [{ apiKey }, expired] = [
      await create({ allowedCidrs: ['192.0.2.1'] }),
      await create({ expiresAt: inSeconds(60) }),
    ];
    server.clock.step(61);
    const own = new ApiClient(server.baseUrl);
    for (let asked = 0; asked < 40; asked++) {
      await expectEnded(own.with({ bearer: apiKey }), /address/);
      await expectEnded(own.with({ bearer: expired.apiKey }), /expired/);
    }
  });

  test.each([
    ['192.0.2.1/24'],
    ['192.0.2.0/33'],
    ['2001:db8::/129'],
    ['2001:db8::1/32'],
    ['192.0.2/24'],
    ['0xc0.0.2.0/24'],
    ['192.0.2.0/024'],
    ['192.0.2.0/-1'],
    ['::ffff:0:0/90'],
    ['fe80::1%eth0'],
    ['example.com'],
    [''],
  ])('are refused: %s', async (cidr) => {
    const answer = await world.client.post(keys, { name: 'key', allowedCidrs: ['192.0.2.0/24', cidr] });
    expectIssue(answer, 'allowedCidrs');
    expect(JSON.stringify(answer.body)).toContain('["allowedCidrs",1]');
  });

  test('are at most twenty', async () => {
    const many = Array.from({ length: 21 }, (_, index) => `192.0.2.${index}`);
    expectIssue(await world.client.post(keys, { name: 'key', allowedCidrs: many }), 'allowedCidrs');
    expect((await create({ allowedCidrs: many.slice(1) })).allowedCidrs).toHaveLength(20);
  });
});

describe('an expiry', () => {
  test('ends a key at that instant, and the refusal says so', async () => {
    const { apiKey, expiresAt } = await create({ expiresAt: inSeconds(60) });
    expect(Date.parse(expiresAt ?? '')).toBeGreaterThan(server.clock.now());
    await expectGood(by(apiKey));
    server.clock.step(61);
    await expectEnded(by(apiKey), /has expired/);
  });

  test('lies in the future, in a year of four digits', async () => {
    for (const expiresAt of [
      inSeconds(-1),
      '10000-01-01T00:00:00Z',
      '+010000-01-01T00:00:00Z',
      'tomorrow',
      1,
    ]) {
      expectIssue(await world.client.post(keys, { name: 'key', expiresAt }), 'expiresAt');
    }
    const { id } = await create();
    expectIssue(await change(id, { expiresAt: inSeconds(-1) }), 'expiresAt');
  });

  test('does not free the place of a key, so that keys cannot be created without end', async () => {
    await create({ expiresAt: inSeconds(1) });
    server.clock.step(2);
    const listed = expectSuccess(await world.client.get(keys), 200, apiKeysAnswer).keys;
    expect(listed).toMatchObject([{ revoked: false }]);
  });
});

describe('a change', () => {
  test('of name, scopes, networks and expiry holds from the next request on, and is logged without values', async () => {
    const { id, apiKey } = await create();
    const expiresAt = inSeconds(3_600);
    const members = { name: 'narrow', scopes: ['users:read'], allowedCidrs: ['192.0.2.0/24'], expiresAt };
    const { key } = expectSuccess(await change(id, members), 200, listedApiKeyAnswer);
    expect(key).toMatchObject({ id, ...members });
    await expectNotMore(by(apiKey, '192.0.2.1').get('/api/v1/auth/me'), /account:read/);
    await expectEnded(by(apiKey, '10.0.0.1'), /address/);
    expectSuccess(
      await change(id, { scopes: ['account:*'], allowedCidrs: [], expiresAt: null }),
      200,
      listedApiKeyAnswer,
    );
    server.clock.step(3_601);
    await expectGood(by(apiKey));
    const [entry] = await sql<{ metadata: unknown }>(
      server,
      `SELECT metadata FROM security_log WHERE developer_id = $1 AND event = 'api_key_changed' ORDER BY id LIMIT 1`,
      [world.developer.id],
    );
    expect(entry?.metadata).toEqual({
      apiKeyId: id,
      changed: ['name', 'scopes', 'allowedCidrs', 'expiresAt'],
    });
  });

  test('leaves what was not sent as it is', async () => {
    const made = await create({
      scopes: ['logs:read'],
      allowedCidrs: ['192.0.2.0/24'],
      expiresAt: inSeconds(60),
    });
    const { key } = expectSuccess(await change(made.id, { name: 'renamed' }), 200, listedApiKeyAnswer);
    const { apiKey: _, ...same } = made;
    expect(key).toMatchObject({ ...same, name: 'renamed' });
  });

  test('of a revoked key, of nobody’s, of no members and of the application is refused', async () => {
    const { id } = await create();
    expectSuccess(await world.client.post(`${keys}/${id}/revoke`), 200, doneAnswer);
    expectFailure(await change(id, { name: 'x' }), 409, 'INVALID_TRANSITION');
    expectFailure(await rotate(id, 0), 409, 'INVALID_TRANSITION');
    expectFailure(await change(missingId, { name: 'x' }), 404, 'API_KEY_NOT_FOUND');
    const stranger = await createWorld(server);
    const good = await create();
    expectFailure(await change(good.id, { name: 'x' }, stranger.client), 404, 'API_KEY_NOT_FOUND');
    expectFailure(await rotate(good.id, 0, stranger.client), 404, 'API_KEY_NOT_FOUND');
    expectFailure(await change(good.id, {}), 400, 'VALIDATION_FAILED');
    expectIssue(await change(good.id, { applicationId: missingId }), 'applicationId');
  });
});

describe('a rotation', () => {
  test('shows a new token once; the old one is good during the overlap, and both are the same key', async () => {
    const first = await create({ scopes: ['account:*', 'logs:read'] });
    const second = await rotated(first.id, 60);
    expect(second).toMatchObject({ id: first.id, name: first.name, scopes: first.scopes });
    expect(second.apiKey).not.toBe(first.apiKey);
    expect(second.apiKey.startsWith(second.keyPrefix)).toBe(true);
    for (const { apiKey } of [first, second]) await expectGood(by(apiKey));
    const listed = await world.client.get(keys);
    expect(JSON.stringify(listed.body)).not.toContain(second.apiKey);
    server.clock.step(61);
    await expectEnded(by(first.apiKey), /replaced by a newer token/);
    await expectGood(by(second.apiKey));
  });

  test('without an overlap ends the old token at once, and another rotation the one before', async () => {
    const first = await create();
    const second = await rotated(first.id, 0);
    await expectEnded(by(first.apiKey), /./);
    const third = await rotated(first.id, 604_800);
    const fourth = await rotated(first.id, 604_800);
    await expectEnded(by(second.apiKey), /does not exist/);
    for (const { apiKey } of [third, fourth]) await expectGood(by(apiKey));
    expectSuccess(await world.client.post(`${keys}/${first.id}/revoke`), 200, doneAnswer);
    for (const { apiKey } of [third, fourth]) await expectEnded(by(apiKey), /revoked/);
  });

  test('has an overlap of at most seven days', async () => {
    const { id } = await create();
    for (const seconds of [-1, 604_801, 0.5]) expectIssue(await rotate(id, seconds), 'overlapSeconds');
  });

  test('does not outlive the expiry of the key, and an expired key is not rotated', async () => {
    const first = await create({ expiresAt: inSeconds(60) });
    const second = await rotated(first.id, 600);
    server.clock.step(61);
    for (const { apiKey } of [first, second]) await expectEnded(by(apiKey), /expired/);
    expectFailure(await rotate(first.id, 0), 409, 'INVALID_TRANSITION');
  });

  test('takes the right to manage keys from the token that it replaces', async () => {
    const first = await create();
    const second = await rotated(first.id, 60);
    const replaced = by(first.apiKey);
    await expectGood(replaced);
    await expectNotMore(rotate(first.id, 0, replaced), /replaced/);
    await expectNotMore(replaced.post(keys, { name: 'another', expiresAt: inSeconds(30) }), /replaced/);
    await expectNotMore(change(first.id, { expiresAt: inSeconds(30) }, replaced), /replaced/);
    await create({}, by(second.apiKey));
  });

  test('by many at once leaves one token that is good, and each answer its own', async () => {
    const { id } = await create();
    const all = await Promise.all(Array.from({ length: 8 }, () => rotated(id, 0)));
    const statuses = await Promise.all(all.map(({ apiKey }) => by(apiKey).get('/api/v1/auth/me')));
    expect(statuses.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe('a key gives no more than it has', () => {
  const given = {
    scopes: ['account:*', 'licenses:read'] satisfies (Scope | 'account:*')[],
    allowedCidrs: ['192.0.2.0/24', '2001:db8::/32'],
  };
  const own = forTest(async () => ({ ...(await create({ ...given, expiresAt: inSeconds(3_600) })) }));
  const client = () => by(own.apiKey, '192.0.2.1');
  const within = () => ({
    scopes: ['licenses:read'],
    allowedCidrs: ['192.0.2.128/25', '2001:db8:1::/48'],
    expiresAt: inSeconds(3_000),
  });

  test('to a new key', async () => {
    await create(within(), client());
    const ask = (members: Members) => client().post(keys, { name: 'more', ...within(), ...members });
    await expectNotMore(ask({ scopes: ['licenses:read', 'users:write'] }), /users:write/);
    await expectNotMore(ask({ scopes: undefined }), /licenses:write/);
    await expectNotMore(ask({ allowedCidrs: [] }), /addresses/);
    await expectNotMore(ask({ allowedCidrs: ['192.0.2.0/23'] }), /addresses/);
    await expectNotMore(ask({ allowedCidrs: ['192.0.2.1', '::/0'] }), /addresses/);
    await expectNotMore(ask({ expiresAt: inSeconds(4_000) }), /expiry/);
    await expectNotMore(ask({ expiresAt: undefined }), /expiry/);
  });

  test('to itself', async () => {
    await expectNotMore(change(own.id, { scopes: [...scopes] }, client()), /licenses:write/);
    await expectNotMore(change(own.id, { allowedCidrs: [] }, client()), /addresses/);
    await expectNotMore(change(own.id, { expiresAt: null }, client()), /expiry/);
    await expectNotMore(change(own.id, { expiresAt: inSeconds(9_000) }, client()), /expiry/);
    expectSuccess(await change(own.id, { name: 'mine' }, client()), 200, listedApiKeyAnswer);
    const mine = await rotated(own.id, 0, client());
    await expectGood(by(mine.apiKey, '192.0.2.1'));
  });

  test('to another key, not even by rotating one that has more', async () => {
    const strong = await create();
    await expectNotMore(rotate(strong.id, 0, client()), /licenses:write/);
    await expectNotMore(change(strong.id, { name: 'x' }, client()), /licenses:write/);
    await expectGood(by(strong.apiKey));
  });

  test('and a key with every scope of today does not give those of tomorrow', async () => {
    const { apiKey } = await create({ scopes: [...scopes] });
    await create({ scopes: [...scopes] }, by(apiKey));
    await expectNotMore(by(apiKey).post(keys, { name: 'more' }), /later versions/);
  });

  test.skipIf(process.env.TEST_DATABASE_KIND !== 'server')(
    'as it is when its turn comes: a key that was narrowed or revoked meanwhile gives nothing',
    async () => {
      const { id, apiKey } = await create();
      const { pool } = server.deps.services.database;
      const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      const session = await pool.connect();
      try {
        for (const [meanwhile, status] of [
          [`UPDATE api_keys SET scopes = '{account:write}' WHERE id = $1`, 503],
          ['UPDATE api_keys SET revoked_at = now() WHERE id = $1', 401],
        ] as const) {
          await session.query('BEGIN');
          await session.query('SELECT FROM developers WHERE id = $1 FOR UPDATE', [world.developer.id]);
          const asked = by(apiKey).post(keys, { name: 'more' });
          await expect
            .poll(async () => (await session.query(waiting)).rowCount, {
              timeout: 10_000,
            })
            .toBeGreaterThan(0);
          await session.query(meanwhile, [id]);
          await session.query('COMMIT');
          expect((await asked).status).toBe(status);
        }
      } finally {
        session.release();
      }
    },
  );
});

describe('the actor of a log entry', () => {
  const actors = async (applicationId: string) =>
    expectSuccess(await world.client.get(`/api/v1/apps/${applicationId}/logs`), 200, logsAnswer).logs.map(
      ({ event, actor }) => ({ event, actor }),
    );

  test('is the developer by name, or the API key by id and the name that it had', async () => {
    const { id } = await world.createApplication();
    const key = await create({ name: 'build server' });
    await by(key.apiKey).patch(`/api/v1/apps/${id}/settings`, { version: '2' });
    await change(key.id, { name: 'renamed' });
    await by(key.apiKey).patch(`/api/v1/apps/${id}/settings`, { version: '3' });
    expect(await actors(id)).toEqual([
      { event: 'application_settings_changed', actor: { kind: 'api_key', id: key.id, name: 'renamed' } },
      { event: 'application_settings_changed', actor: { kind: 'api_key', id: key.id, name: 'build server' } },
      { event: 'application_created', actor: expect.objectContaining({ kind: 'session', name: 'Ada' }) },
    ]);
  });

  test('of a login and a registration is a session; of a failed login, one without a name', async () => {
    await new ApiClient(server.baseUrl).post('/api/v1/auth/login', world.login);
    await new ApiClient(server.baseUrl).post('/api/v1/auth/login', { ...world.login, password: 'wrong' });
    const stored = () =>
      sql(
        server,
        `SELECT event, actor_kind AS kind, actor_name AS name FROM security_log WHERE developer_id = $1 ORDER BY id`,
        [world.developer.id],
      );
    // A failed login is recorded after the answer.
    await expect.poll(stored, { timeout: 10_000 }).toEqual([
      { event: 'developer_registered', kind: 'session', name: 'Ada' },
      { event: 'developer_logged_in', kind: 'session', name: 'Ada' },
      { event: 'developer_login_failed', kind: 'session', name: null },
    ]);
  });

  test('of a login with the cookie of another account is nobody, and not that account', async () => {
    const mallory = await createWorld(server);
    const wrong = { ...world.login, password: 'wrong' };
    const query = 'mutation ($input: LoginInput!) { login(input: $input) { developer { id } } }';
    await mallory.client.post('/graphql', { query, variables: { input: wrong } });
    const stored = () =>
      sql(
        server,
        `SELECT actor_id AS id, actor_name AS name FROM security_log WHERE developer_id = $1 AND event = $2`,
        [world.developer.id, 'developer_login_failed'],
      );
    await expect.poll(stored, { timeout: 10_000 }).toEqual([{ id: null, name: null }]);
  });

  test('is who guesses the password in a session', async () => {
    await world.client.post('/api/v1/auth/confirm', { password: 'wrong' });
    const [guess] = await sql(
      server,
      `SELECT actor_kind AS kind, actor_name AS name FROM security_log WHERE developer_id = $1 AND event = $2`,
      [world.developer.id, 'developer_login_failed'],
    );
    expect(guess).toEqual({ kind: 'session', name: 'Ada' });
  });

  test('is null in entries of the version before', async () => {
    const { id } = await world.createApplication();
    await sql(
      server,
      'UPDATE security_log SET actor_kind = NULL, actor_name = NULL WHERE application_id = $1',
      [id],
    );
    expect(await actors(id)).toEqual([{ event: 'application_created', actor: null }]);
  });

  test('of each license of a bulk change is who sent it', async () => {
    const application = await world.createApplication();
    await application.mint({ amount: 2 });
    const key = await create({ scopes: ['licenses:write'] });
    await by(key.apiKey).post(`/api/v1/apps/${application.id}/licenses/bulk`, {
      action: 'suspend',
      filter: {},
    });
    const suspended = (await actors(application.id)).filter(({ event }) => event === 'license_suspended');
    expect(suspended.map(({ actor }) => actor?.id)).toEqual([key.id, key.id]);
  });
});
