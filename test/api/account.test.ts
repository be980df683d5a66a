import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { recoveryCodeHash } from '../../src/crypto/recovery-code.ts';
import { ApiClient, cookieOf } from '../setup/api-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { databaseState, sql } from '../setup/stored.ts';
import { createWebhook } from '../setup/webhook-receiver.ts';
import { createWorld, type World } from '../setup/world.ts';
import {
  accountExportAnswer,
  apiKeyAnswer,
  developerAnswer,
  doneAnswer,
  expectFailure,
  expectIssue,
  expectSuccess,
  mintedAnswer,
  noLimits,
} from './support.ts';

let server: TestServer;
let world: World;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
});
afterAll(() => server.close());
/** Each test has its own account. */
beforeEach(async () => {
  world = await createWorld(server);
});

const prisma = () => server.deps.services.database.prisma;
const account = () => prisma().developer.findUniqueOrThrow({ where: { id: world.developer.id } });
const post = (path: string, body: unknown, client = world.client) =>
  client.post(`/api/v1/account/${path}`, body);
const patchProfile = (fields: Record<string, unknown>, client = world.client) =>
  client.patch('/api/v1/account/profile', { password: world.developer.password, ...fields });
const withPassword = (fields: Record<string, unknown> = {}) => ({
  password: world.developer.password,
  ...fields,
});
const me = async (client = world.client) => client.get('/api/v1/auth/me');
const apiKey = async () =>
  expectSuccess(await post('api-keys', { name: 'key' }), 201, apiKeyAnswer).key.apiKey;
const byKey = (bearer: string) => new ApiClient(server.baseUrl, { bearer });
const exported = async () =>
  expectSuccess(await world.client.get('/api/v1/account/export'), 200, accountExportAnswer).export;
const login = (password: string, email = world.developer.email) =>
  new ApiClient(server.baseUrl).post('/api/v1/auth/login', { email, password });
const changes = async () => {
  const entries = await prisma().securityLogEntry.findMany({
    where: { developerId: world.developer.id, event: 'account_changed' },
    orderBy: { id: 'asc' },
  });
  return entries.map(({ metadata, ip }) => ({ metadata, ip }));
};

const vault = () => ({
  vaultSaltB64: randomBytes(16).toString('base64'),
  vaultCheckB64: randomBytes(48).toString('base64'),
});

describe('the mask', () => {
  test('determines the format of minted keys until it is reset to null', async () => {
    const application = await world.createApplication();
    const mask = 'PHOTO-XXXXXXXX-XXXXXXXX';
    const answer = await post('mask', { mask });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, mask });
    expect(expectSuccess(await me(), 200, developerAnswer).developer.licenseMask).toBe(mask);
    expect((await application.mintOne()).licenseKey).toMatch(/^PHOTO-\w{8}-\w{8}$/);
    const own = 'OWN-XXXXXXXXXXXXXXXX';
    expect((await application.mintOne({ mask: own })).licenseKey).toMatch(/^OWN-/);
    expect((await post('mask', { mask: null })).body).toEqual({ success: true, mask: null });
    expect((await application.mintOne()).licenseKey).toMatch(/^\w{5}(-\w{5}){4}$/);
    expect(await changes()).toMatchObject([
      { metadata: { changed: ['licenseMask'] }, ip: world.client.ip },
      { metadata: { changed: ['licenseMask'] } },
    ]);
  });

  test.each(['', 'XXXXXXX', 'no random letter', 'X'.repeat(129), 'XXXXXXXXX\n', 1, undefined, ['X']])(
    'cannot be %j',
    async (mask) => {
      expectIssue(await post('mask', { mask }), 'mask');
      expect(await account()).toMatchObject({ licenseMask: null });
    },
  );
});

describe('a change that requires the password', () => {
  const doors: [string, () => Record<string, unknown>][] = [
    ['POST mode', () => ({ mode: 'private' })],
    ['POST vault', vault],
    ['PATCH profile', () => ({ name: 'Eve', email: 'eve@example.com', newPassword: 'a new password 1' })],
    ['POST delete', () => ({ confirm: 'DELETE' })],
  ];

  test.each(doors)(
    '%s: a wrong password is INVALID_CREDENTIALS, logged, and changes nothing',
    async (door, body) => {
      const [method = '', path = ''] = door.split(' ');
      const key = await apiKey();
      const before = await databaseState(server);
      for (const client of [world.client, byKey(key)]) {
        for (const password of ['not the password', world.developer.password.toUpperCase()]) {
          const answer = await client.send(method, `/api/v1/account/${path}`, { ...body(), password });
          expectFailure(answer, 401, 'INVALID_CREDENTIALS');
          expect(cookieOf(answer)).toBeUndefined();
        }
      }
      const after = await databaseState(server);
      expect({ ...after, security_log: null }).toEqual({ ...before, security_log: null });
      const logged = await sql(
        server,
        "SELECT actor_kind AS kind FROM security_log WHERE developer_id = $1 AND event = 'developer_login_failed' ORDER BY id",
        [world.developer.id],
      );
      expect(logged.map((row) => z.object({ kind: z.string() }).parse(row).kind)).toEqual([
        'session',
        'session',
        'api_key',
        'api_key',
      ]);
    },
  );

  test.each(doors)('%s: a missing password is refused', async (door, body) => {
    const [method = '', path = ''] = door.split(' ');
    const send = (fields: Record<string, unknown>) =>
      world.client.send(method, `/api/v1/account/${path}`, { ...body(), ...fields });
    for (const password of [undefined, null, '', 12, 'x'.repeat(1025)]) {
      expectIssue(await send({ password }), 'password');
    }
    expect((await me()).status).toBe(200);
  });

  test.each(doors)('%s: another developer’s password is wrong', async (door, body) => {
    const [method = '', path = ''] = door.split(' ');
    const { password } = (await createWorld(server)).developer;
    const answer = await world.client.send(method, `/api/v1/account/${path}`, { ...body(), password });
    expectFailure(answer, 401, 'INVALID_CREDENTIALS');
  });
});

describe('the mode', () => {
  test('private disables minting on the server, and default enables it again', async () => {
    const application = await world.createApplication();
    const mint = () =>
      world.client.post('/api/v1/licenses/create', {
        applicationId: application.id,
        amount: 1,
        durationSeconds: 0,
      });
    expect((await post('mode', withPassword({ mode: 'private' }))).body).toEqual({
      success: true,
      mode: 'private',
    });
    expect(expectSuccess(await me(), 200, developerAnswer).developer.keyCreationMode).toBe('private');
    expectFailure(await mint(), 409, 'PRIVATE_MODE');
    expect((await post('mode', withPassword({ mode: 'default' }))).status).toBe(200);
    expectSuccess(await mint(), 201, mintedAnswer);
    expect((await changes()).map(({ metadata }) => metadata)).toEqual([
      { changed: ['keyCreationMode'] },
      { changed: ['keyCreationMode'] },
    ]);
  });

  test.each(['Private', '', null, undefined, 1])('cannot be %j', async (mode) => {
    expectIssue(await post('mode', withPassword({ mode })), 'mode');
  });
});

describe('the vault', () => {
  test('keeps the check fields', async () => {
    const fields = vault();
    const answer = await post('vault', withPassword(fields));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, vault: fields });
    expect(await account()).toMatchObject(fields);
    const entries = await changes();
    expect(entries.map(({ metadata }) => metadata)).toEqual([{ changed: ['vault'] }]);
  });

  test.each([
    ['vaultSaltB64', 'AAAA'],
    ['vaultSaltB64', randomBytes(65).toString('base64')],
    ['vaultSaltB64', randomBytes(32).toString('base64url')],
    ['vaultSaltB64', undefined],
    ['vaultCheckB64', ''],
    ['vaultCheckB64', randomBytes(1025).toString('base64')],
    ['vaultCheckB64', `${randomBytes(48).toString('base64')}\n`],
    ['vaultCheckB64', null],
  ])('refuses the %s %j', async (field, value) => {
    expectIssue(await post('vault', withPassword({ ...vault(), [field]: value })), field);
    expect(await account()).toMatchObject({ vaultSaltB64: null, vaultCheckB64: null });
  });
});

describe('the profile', () => {
  test('accepts a new name and a new address separately', async () => {
    const email = `New-${randomBytes(6).toString('hex')}@Example.com`;
    const named = expectSuccess(await patchProfile({ name: 'Ada Lovelace' }), 200, developerAnswer);
    expect(named.developer).toMatchObject({ name: 'Ada Lovelace', email: world.developer.email });
    const moved = await patchProfile({ email });
    expect(expectSuccess(moved, 200, developerAnswer).developer).toMatchObject({
      name: 'Ada Lovelace',
      email,
    });
    expect(cookieOf(moved), 'sessions go on').toBeUndefined();
    expect((await me()).status).toBe(200);
    expect((await login(world.developer.password, email.toLowerCase())).status).toBe(200);
    expectFailure(await login(world.developer.password), 401, 'INVALID_CREDENTIALS');
    expect((await changes()).map(({ metadata }) => metadata)).toEqual([
      { changed: ['name'] },
      { changed: ['email'] },
    ]);
  });

  test("refuses another account's address in any letter case", async () => {
    const other = await createWorld(server);
    for (const email of [other.developer.email, other.developer.email.toUpperCase()]) {
      expectFailure(await patchProfile({ email, name: 'Eve' }), 409, 'EMAIL_TAKEN');
    }
    expect(await account()).toMatchObject({ email: world.developer.email, name: 'Ada' });
    const { email } = world.developer;
    expect((await patchProfile({ email: email.toUpperCase() })).status, 'one’s own is fine').toBe(200);
  });

  test('a new password ends every earlier cookie, sets a new one for this client, and does not affect API keys', async () => {
    const key = await apiKey();
    const elsewhere = new ApiClient(server.baseUrl, {
      cookie: cookieOf(await login(world.developer.password)) ?? '',
    });
    expect((await me(elsewhere)).status).toBe(200);
    const newPassword = 'an entirely new password';
    const answer = await patchProfile({ newPassword });
    expectSuccess(answer, 200, developerAnswer);
    const [header = ''] = answer.headers.getSetCookie();
    expect(header).toMatch(/HttpOnly/i);
    expect(header).toMatch(/Max-Age=604800/i);
    const fresh = cookieOf(answer) ?? '';
    expectFailure(await me(elsewhere), 401, 'UNAUTHENTICATED');
    expectFailure(await me(), 401, 'UNAUTHENTICATED');
    expect((await me(world.client.with({ cookie: fresh }))).status).toBe(200);
    expect((await me(byKey(key))).status).toBe(200);
    expectFailure(await login(world.developer.password), 401, 'INVALID_CREDENTIALS');
    expect((await login(newPassword)).status).toBe(200);
    const entries = await changes();
    expect(entries.map(({ metadata }) => metadata)).toEqual([{ changed: ['newPassword'] }]);
    expect(await account()).toMatchObject({ passwordHash: expect.stringMatching(/^\$argon2id\$/) });
  });

  test('a new password set with an API key ends all cookies and sets none', async () => {
    const client = byKey(await apiKey());
    const answer = await patchProfile({ newPassword: 'an entirely new password' }, client);
    expectSuccess(answer, 200, developerAnswer);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expectFailure(await me(), 401, 'UNAUTHENTICATED');
    expect((await me(client)).status).toBe(200);
  });

  test.each([
    ['name', ''],
    ['name', ' \t'],
    ['name', 'x'.repeat(101)],
    ['name', null],
    ['email', 'nobody'],
    ['email', `${'x'.repeat(250)}@example.com`],
    ['newPassword', 'elevenchars'],
    ['newPassword', 'x'.repeat(129)],
    ['newPassword', 'nul\u0000 in the middle'],
  ])('refuses the %s %j', async (field, value) => {
    const before = await account();
    expectIssue(await patchProfile({ [field]: value }), field);
    expect(await account()).toEqual(before);
  });
});

/** Data of a developer with at least one row in every table. */
async function createFullAccount(owner: World) {
  const application = await owner.createApplication();
  const license = await application.mintOne({ durationSeconds: 3_600, subscriptionTier: 1 });
  const spare = await application.mintOne();
  const session = await openSession(server, application);
  const user = { username: 'grace', password: 'a user password', email: 'grace@example.com' };
  const registered = await session.ask('/api/v1/client/register', {
    ...user,
    licenseKey: license.licenseKey,
    hwid: 'device',
  });
  expect(registered).toMatchObject({ code: 'OK' });
  await session.ask(validatePath, { licenseKey: license.licenseKey, hwid: 'device' });
  await owner.client.post(`/api/v1/apps/${application.id}/policies`, { code: 'pro', name: 'Pro' });
  await owner.client.post(`/api/v1/licenses/${spare.id}/rotate-key`, { overlapSeconds: 60 });
  await owner.client.post(`/api/v1/licenses/${license.id}/ban`, { scope: 'hwid_and_ip' });
  const { key } = expectSuccess(
    await owner.client.post('/api/v1/account/api-keys', { name: 'key' }),
    201,
    apiKeyAnswer,
  );
  const fields = vault();
  await owner.client.post('/api/v1/account/vault', { ...fields, password: owner.developer.password });
  return {
    application,
    license,
    spare,
    session,
    user,
    key,
    vault: fields,
    token: String(registered.sessionToken),
  };
}

describe('the export of the account', () => {
  test('contains all data of the developer, and no secret', async () => {
    const { application, license, spare, session, user, key, token } = await createFullAccount(world);
    await createFullAccount(await createWorld(server));
    const value = await exported();
    expect(value.developer).toMatchObject({ id: world.developer.id, email: world.developer.email });
    expect(value.applications.map(({ id }) => id)).toEqual([application.id]);
    expect(value.licenses).toMatchObject([
      { id: spare.id, status: 'unused' },
      { id: license.id, status: 'banned', hwid: 'device', lastIp: session.client.ip },
    ]);
    expect(value.users).toMatchObject([
      {
        username: 'grace',
        email: user.email,
        lastHwid: 'device',
        licenseId: license.id,
        subscriptionTier: 1,
      },
    ]);
    expect(value.bans.map(({ banType, applicationId }) => [banType, applicationId])).toEqual([
      ['ip', application.id],
      ['hwid', application.id],
    ]);
    expect(value.apiKeys).toMatchObject([
      { id: key.id, name: 'key', keyPrefix: key.keyPrefix, revoked: false },
    ]);
    expect(new Set(value.securityLog.map(({ event }) => event))).toEqual(
      new Set([
        'developer_registered',
        'application_created',
        'licenses_created',
        'user_registered',
        'license_validated',
        'policy_created',
        'license_key_rotated',
        'license_banned',
        'api_key_created',
        'account_changed',
      ]),
    );
    const text = JSON.stringify(value);
    const row = await account();
    const stored = await prisma().endUser.findFirstOrThrow({ where: { applicationId: application.id } });
    const app = await prisma().application.findUniqueOrThrow({ where: { id: application.id } });
    const secrets = {
      password: world.developer.password,
      hash: row.passwordHash,
      userPassword: user.password,
      userHash: stored.passwordHash,
      apiKey: key.apiKey,
      token,
      licenseKey: license.licenseKey,
      spareKey: spare.licenseKey,
      seed: Buffer.from(app.privateKeyEncrypted).toString('base64'),
    };
    for (const [name, secret] of Object.entries(secrets)) {
      expect(text, name).not.toContain(secret);
      expect(text, `hash of ${name}`).not.toContain(createHash('sha256').update(secret).digest('hex'));
    }
  });

  test('is logged after the entries that it contains', async () => {
    const { securityLog } = await exported();
    expect(securityLog.map(({ event }) => event)).toEqual(['developer_registered']);
    expect((await exported()).securityLog.map(({ event }) => event)).toEqual([
      'account_exported',
      'developer_registered',
    ]);
  });
});

describe('deleting the account', () => {
  const remove = (fields: Record<string, unknown> = {}, client = world.client) =>
    post('delete', withPassword({ confirm: 'DELETE', ...fields }), client);

  test.each(['delete', 'Delete', 'DELETE ', '', true, null, undefined])(
    'is not confirmed by %j',
    async (confirm) => {
      expectIssue(await remove({ confirm }), 'confirm');
      expect((await me()).status).toBe(200);
    },
  );

  test('deletes all its rows, ends its cookies and keys, and does not affect others', async () => {
    const other = await createWorld(server);
    const others = await createFullAccount(other);
    const mine = await createFullAccount(world);
    const client = byKey(mine.key.apiKey);
    const elsewhere = new ApiClient(server.baseUrl, {
      cookie: cookieOf(await login(world.developer.password)) ?? '',
    });
    const code = { developerId: world.developer.id, codeHash: recoveryCodeHash('a recovery code') };
    await prisma().recoveryCode.create({ data: code });
    await createWebhook(client, { url: 'https://hooks.example.com/', types: ['device.moved'] });
    const before = await databaseState(server);
    const own = new Set([
      world.developer.id,
      mine.application.id,
      mine.license.id,
      mine.spare.id,
      mine.key.id,
    ]);
    const withoutOwner = new Set(['end_user_sessions', 'webhook_deliveries']);
    for (const [table, rows] of Object.entries(before)) {
      expect(JSON.stringify(rows), `${table} has something of it`).toMatch(
        withoutOwner.has(table) ? /./ : new RegExp([...own].join('|')),
      );
    }
    const sessions = await sql<{ id: string }>(
      server,
      `SELECT s.id FROM end_user_sessions s JOIN end_users u ON u.id = s.end_user_id WHERE u.application_id = $1`,
      [mine.application.id],
    );
    expect(sessions).toHaveLength(1);

    const answer = await remove();
    expectSuccess(answer, 200, doneAnswer);
    expect(cookieOf(answer)).toBe('');
    expect(answer.headers.getSetCookie()[0]).toMatch(/Max-Age=0/i);

    const after = await databaseState(server);
    for (const [table, rows] of Object.entries(after)) {
      const text = JSON.stringify(rows);
      for (const id of [...own, world.developer.email, ...sessions.map((row) => row.id)]) {
        expect(text, `${id} in ${table}`).not.toContain(id);
      }
    }
    for (const each of [world.client, client, elsewhere])
      expectFailure(await me(each), 401, 'UNAUTHENTICATED');
    expectFailure(await login(world.developer.password), 401, 'INVALID_CREDENTIALS');
    const init = await new ApiClient(server.baseUrl).post('/api/v1/session/init', {
      appId: mine.application.id,
      clientNonceB64: randomBytes(32).toString('base64'),
      clientVersion: mine.application.version,
    });
    expectFailure(init, 404, 'APP_NOT_FOUND');
    const { session } = mine;
    const validate = session.seal(session.inner({ licenseKey: mine.spare.licenseKey }));
    expectFailure(await session.client.post(validatePath, validate), 401, 'SESSION_EXPIRED');

    expect((await me(other.client)).status).toBe(200);
    expect((await me(byKey(others.key.apiKey))).status).toBe(200);
    expect(await others.session.ask(validatePath, { licenseKey: others.spare.licenseKey })).toMatchObject({
      code: 'IP_BANNED',
    });
    expect(await prisma().license.count({ where: { applicationId: others.application.id } })).toBe(2);
  });

  test('works with an API key, and frees its email address', async () => {
    const client = byKey(await apiKey());
    expectSuccess(await remove({}, client), 200, doneAnswer);
    expectFailure(await remove({}, client), 401, 'UNAUTHENTICATED');
    const again = await new ApiClient(server.baseUrl).post('/api/v1/auth/register', {
      email: world.developer.email,
      password: world.developer.password,
      name: 'Ada again',
    });
    expect(expectSuccess(again, 201, developerAnswer).developer.id).not.toBe(world.developer.id);
  });
});

describe('the limits', () => {
  let limited: TestServer;
  beforeAll(async () => {
    limited = await startTestServer();
  });
  afterAll(() => limited.close());

  test('mode, vault, profile, export and delete share twenty requests a minute, whatever their result', async () => {
    const { client } = await createWorld(limited);
    const asks = [
      () => client.post('/api/v1/account/mode', {}),
      () => client.post('/api/v1/account/vault', {}),
      () => client.patch('/api/v1/account/profile', {}),
      () => client.get('/api/v1/account/export'),
      () => client.post('/api/v1/account/delete', {}),
    ];
    for (let asked = 0; asked < 20; asked++) {
      const answer = await asks[asked % 5]?.();
      expect(answer?.headers.get('ratelimit-limit')).toBe('20');
      expect(answer?.headers.get('ratelimit-remaining')).toBe(String(19 - asked));
      expect(answer?.status).toBe(asked % 5 === 3 ? 200 : 400);
    }
    for (const ask of asks) {
      const answer = await ask();
      expectFailure(answer, 429, 'RATE_LIMITED');
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await client.post('/api/v1/account/mask', { mask: null })).status, 'no part of it').toBe(200);
  });

  test('thirty blind mints a minute have a separate limit', async () => {
    const { client } = await createWorld(limited);
    const mint = (path: string) => client.post(`/api/v1/licenses/${path}`, {});
    for (let asked = 0; asked < 30; asked++) {
      expectFailure(await mint('create-blind'), 400, 'VALIDATION_FAILED');
    }
    expectFailure(await mint('create-blind'), 429, 'RATE_LIMITED');
    expectFailure(await mint('create'), 400, 'VALIDATION_FAILED');
  });
});

test('of parallel password changes with the old password exactly one succeeds', async () => {
  const { email, password } = world.developer;
  const passwords = Array.from({ length: 5 }, (_, index) => `new password number ${index}`);
  const answers = await Promise.all(
    passwords.map((newPassword) => world.client.patch('/api/v1/account/profile', { newPassword, password })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401]);
  const logins = await Promise.all(
    passwords.map((candidate) =>
      new ApiClient(server.baseUrl).post('/api/v1/auth/login', { email, password: candidate }),
    ),
  );
  expect(logins.map(({ status }) => status)).toEqual(answers.map(({ status }) => status));
});
