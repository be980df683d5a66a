import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type ApiAnswer, randomIp } from '../setup/api-client.ts';
import { ask } from '../setup/end-users.ts';
import { GraphqlClient } from '../setup/graphql-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { createWorld, type SeededApplication, type World } from '../setup/world.ts';
import { apiKeyAnswer, apiKeysAnswer, expectFailure, expectSuccess, noLimits } from './support.ts';

/** The limits of this server. */
const most = { applications: 5, apiKeys: 4, bans: 6, sessions: 3 };

let server: TestServer;
let world: World;
beforeAll(async () => {
  const limits = Object.entries(most).map(([name, count]) => `${name}=${count}`);
  server = await startTestServer({ env: { ...noLimits, COUNT_LIMITS: limits.join() } });
});
afterAll(() => server.close());
beforeEach(async () => {
  world = await createWorld(server);
});

const count = async (rows: string, id: string) => {
  const [found] = await sql<{ count: number }>(server, `SELECT count(*)::int AS count FROM ${rows} = $1`, [
    id,
  ]);
  return found?.count ?? 0;
};
const times = <Value>(amount: number, make: (index: number) => Promise<Value>) =>
  Promise.all(Array.from({ length: amount }, (_, index) => make(index)));
const tally = (answers: readonly ApiAnswer[]) => {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const { code } = z.object({ code: z.string().optional() }).parse(body);
    const key = code === undefined ? String(status) : `${status} ${code}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
};

describe('applications of a developer', () => {
  const create = () => world.client.post('/api/v1/apps/create', { name: 'Photo Lab' });
  const own = () => count('applications WHERE developer_id', world.developer.id);

  test('of many concurrent creations exactly one gets the last place below the limit', async () => {
    for (let made = 0; made < most.applications - 1; made++) expect((await create()).status).toBe(201);
    expect(tally(await times(50, create))).toEqual({ 201: 1, '409 LIMIT_REACHED': 49 });
    expect(await own()).toBe(most.applications);
  });

  test('the refusal at the limit names the limit and what to do; a deletion makes room', async () => {
    const [first] = await times(most.applications, () => world.createApplication());
    const { error } = expectFailure(await create(), 409, 'LIMIT_REACHED');
    expect(error).toMatch(/the limit is 5\. Delete one .* raise applications in COUNT_LIMITS/);
    expect((await world.client.delete(`/api/v1/apps/${first?.id}`)).status).toBe(200);
    expect((await create()).status).toBe(201);
  });

  test('the limit applies to each developer separately', async () => {
    await times(most.applications, () => world.createApplication());
    await (await createWorld(server)).createApplication();
  });

  test('existing ones beyond a lowered limit are kept and served', async () => {
    const { id } = await world.createApplication();
    await sql(
      server,
      `INSERT INTO applications (id, developer_id, name, public_key, private_key_encrypted)
       SELECT gen_random_uuid(), $1, 'App', decode(repeat('00', 32), 'hex'), decode(repeat('00', 60), 'hex') FROM generate_series(1, 9)`,
      [world.developer.id],
    );
    expectFailure(await create(), 409, 'LIMIT_REACHED');
    const settings = await world.client.patch(`/api/v1/apps/${id}/settings`, { version: '2.0.0' });
    expect(settings.status).toBe(200);
    expect(await own()).toBe(10);
  });

  test('GraphQL refuses with the same code', async () => {
    await times(most.applications, () => world.createApplication());
    const answer = await new GraphqlClient(world.client).ask(
      'mutation { createApplication(input: { name: "One more" }) { application { id } } }',
    );
    expect(answer.codes).toEqual(['LIMIT_REACHED']);
  });
});

describe('API keys of a developer', () => {
  const create = () => world.client.post('/api/v1/account/api-keys', { name: 'key' });
  const make = async () => expectSuccess(await create(), 201, apiKeyAnswer).key;
  const revoke = (id: string) => world.client.post(`/api/v1/account/api-keys/${id}/revoke`);
  const list = async () =>
    expectSuccess(await world.client.get('/api/v1/account/api-keys'), 200, apiKeysAnswer).keys;

  test('of many concurrent creations exactly one gets the last place below the limit', async () => {
    for (let made = 0; made < most.apiKeys - 1; made++) await make();
    expect(tally(await times(50, create))).toEqual({ 201: 1, '409 LIMIT_REACHED': 49 });
    expect(await list()).toHaveLength(most.apiKeys);
  });

  test('revoked ones do not count but are listed', async () => {
    const keys = await times(most.apiKeys, make);
    expect(expectFailure(await create(), 409, 'LIMIT_REACHED').error).toContain('apiKeys in COUNT_LIMITS');
    expect((await revoke(keys[0]?.id ?? '')).status).toBe(200);
    await make();
    expect((await list()).filter(({ revoked }) => revoked)).toMatchObject([{ id: keys[0]?.id }]);
  });

  const addRevoked = (amount: number) =>
    sql(
      server,
      `INSERT INTO api_keys (id, developer_id, name, key_hash, key_prefix, revoked_at)
       SELECT overlay(gen_random_uuid()::text PLACING '7' FROM 15)::uuid, $1, 'old ' || number, sha256(gen_random_uuid()::text::bytea), 'service_live_AbCd',
         '2026-01-01'::timestamptz + number * interval '1 minute'
       FROM generate_series(1, $2::int) AS number`,
      [world.developer.id, amount],
    );
  const names = async () => (await list()).map(({ name }) => name);

  test('of 500 revoked ones the oldest is deleted for the next', async () => {
    const [first, second] = await times(2, make);
    await addRevoked(499);
    await revoke(first?.id ?? '');
    expect(await names()).toContain('old 1');
    await revoke(second?.id ?? '');
    expect(await list()).toHaveLength(500);
    expect(await names()).not.toContain('old 1');
    expect(await names()).toContain('old 2');
  });

  test('more than 500 revoked ones are kept, even after concurrent revocations', async () => {
    await addRevoked(600);
    const keys = await times(most.apiKeys, make);
    await times(most.apiKeys, (index) => revoke(keys[index]?.id ?? ''));
    expect(await list()).toHaveLength(600);
  });
});

describe('bans of an application', () => {
  let application: SeededApplication;
  beforeEach(async () => {
    application = await world.createApplication();
  });
  const own = () => count('bans WHERE application_id', application.id);
  const fill = (amount: number) =>
    sql(
      server,
      `INSERT INTO bans (id, application_id, ban_type, value)
       SELECT gen_random_uuid(), $1, 'hwid', 'device ' || number FROM generate_series(1, $2::int) AS number`,
      [application.id, amount],
    );
  /** Licenses, each bound to a device. */
  const bound = async (amount: number) => {
    const licenses = await application.mint({ amount });
    const session = await openSession(server, application);
    for (const [index, { licenseKey }] of licenses.entries()) {
      await session.ask(validatePath, { licenseKey, hwid: `own device ${index}` });
    }
    return licenses.map(({ id }) => id);
  };
  const ban = (id: string, body: object) =>
    world.client.with({ ip: randomIp() }).post(`/api/v1/licenses/${id}/ban`, body);
  const statusOf = async (id: string) => {
    const [license] = await sql<{ status: string }>(
      server,
      'SELECT status::text FROM licenses WHERE id = $1',
      [id],
    );
    return license?.status;
  };

  test('of many concurrent creations exactly one gets the last place below the limit', async () => {
    await fill(most.bans - 1);
    const licenses = await bound(20);
    const answers = await times(20, (index) => ban(licenses[index] ?? '', { scope: 'hwid' }));
    expect(tally(answers)).toEqual({ 200: 1, '409 LIMIT_REACHED': 19 });
    expect(await own()).toBe(most.bans);
    // A refused ban changes nothing.
    const statuses = await times(20, (index) => statusOf(licenses[index] ?? ''));
    expect(statuses.filter((status) => status === 'banned')).toHaveLength(1);
  });

  test('a ban of device and address with room for only one is refused completely', async () => {
    await fill(most.bans - 1);
    const [license = ''] = await bound(1);
    const answer = await ban(license, { scope: 'hwid_and_ip', ip: '203.0.113.9' });
    expect(expectFailure(answer, 409, 'LIMIT_REACHED').error).toMatch(
      /nothing was banned.*bans in COUNT_LIMITS/,
    );
    expect(await own()).toBe(most.bans - 1);
    expect(await statusOf(license)).toBe('active');
    expect((await ban(license, { scope: 'license' })).status).toBe(200);
  });

  test('an existing ban needs no room', async () => {
    const [first = '', second = ''] = await bound(2);
    expect((await ban(first, { scope: 'hwid_and_ip', ip: '203.0.113.9' })).status).toBe(200);
    await fill(most.bans + 3);
    expect((await ban(first, { scope: 'hwid_and_ip', ip: '203.0.113.9' })).status).toBe(200);
    expectFailure(await ban(second, { scope: 'hwid' }), 409, 'LIMIT_REACHED');
    expect(await own()).toBe(most.bans + 5);
  });
});

describe('sessions of an end user', () => {
  let application: SeededApplication;
  beforeEach(async () => {
    application = await world.createApplication();
    await application.settings({ requireLicenseToRegister: false });
  });
  const grace = { username: 'grace', password: 'a user password' };
  const hwids = async () => {
    const rows = await sql<{ hwid: string }>(
      server,
      `SELECT s.hwid FROM end_user_sessions AS s JOIN end_users ON end_users.id = s.end_user_id
       WHERE end_users.application_id = $1 ORDER BY s.id`,
      [application.id],
    );
    return rows.map(({ hwid }) => hwid);
  };

  test('a login beyond the limit succeeds, and ends the oldest', async () => {
    await ask(server, application, 'register', { ...grace, hwid: 'first' });
    for (const hwid of ['second', 'third', 'fourth']) {
      expect(await ask(server, application, 'login', { ...grace, hwid })).toMatchObject({ code: 'OK' });
    }
    expect(await hwids()).toEqual(['second', 'third', 'fourth']);
  });

  test('an upgrade counts as a login does', async () => {
    await ask(server, application, 'register', { ...grace, hwid: 'first' });
    for (const tier of [1, 2, 3]) {
      const { licenseKey } = await application.mintOne({ subscriptionTier: tier });
      const answer = await ask(server, application, 'upgrade', { username: 'grace', licenseKey });
      expect(answer).toMatchObject({ code: 'OK' });
    }
    expect(await hwids()).toEqual([null, null, null]);
  });

  test('concurrent logins leave no more sessions than the limit, and end no session of other users', async () => {
    await ask(server, application, 'register', { ...grace, hwid: 'first' });
    await ask(server, application, 'register', { ...grace, username: 'alan', hwid: 'of Alan' });
    await times(8, (index) => ask(server, application, 'login', { ...grace, hwid: `device ${index}` }));
    const left = await hwids();
    expect(left).toContain('of Alan');
    expect(left).toHaveLength(most.sessions + 1);
  });
});
