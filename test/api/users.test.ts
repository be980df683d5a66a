import { createHash } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { ApiClient } from '../setup/api-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { insertBan, sql, storedLicense, storedLog } from '../setup/stored.ts';
import { forTest, useWorld } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';
import {
  doneAnswer,
  expectFailure,
  expectIssue,
  expectSuccess,
  missingId,
  noLimits,
  userAnswer,
  userExportAnswer,
  usersAnswer,
} from './support.ts';

const { server, world } = useWorld({ env: noLimits });
const application = forTest(() => world.createApplication());

const prisma = () => server.deps.services.database.prisma;
const password = 'a user password';
const usersPath = () => `/api/v1/apps/${application.id}/users`;
const create = (fields: Record<string, unknown>, client = world.client) =>
  client.post(usersPath(), { username: 'grace', password, ...fields });
const created = async (fields: Record<string, unknown>) =>
  expectSuccess(await create(fields), 201, userAnswer).user;
const list = async (query: Record<string, string> = {}) =>
  expectSuccess(
    await world.client.get(`${usersPath()}?${new URLSearchParams(query).toString()}`),
    200,
    usersAnswer,
  );
const reset = (userId: string) => world.client.post(`${usersPath()}/${userId}/reset-hwid`);
const exported = async () =>
  expectSuccess(await world.client.get(`${usersPath()}/export`), 200, userExportAnswer).export;
const countUsers = () => prisma().endUser.count({ where: { applicationId: application.id } });
const open = () => application.settings({ requireLicenseToRegister: false });

/** A user who registered from a device through client software. */
async function registered(fields: { username?: string; hwid?: string; email?: string } = {}) {
  const license = await application.mintOne({ durationSeconds: 3600, subscriptionTier: 2 });
  const session = await openSession(server, application);
  const answer = await session.ask('/api/v1/client/register', {
    username: 'grace',
    password,
    licenseKey: license.licenseKey,
    ...fields,
  });
  expect(answer).toMatchObject({ code: 'OK' });
  const { users } = await list({ q: fields.username ?? 'grace' });
  const [user] = users;
  if (user === undefined) throw new Error('the user is not in the list');
  return { license, session, user, sessionToken: String(answer.sessionToken) };
}

describe('creating a user', () => {
  test('with an unused key links the license, activates it and binds no device', async () => {
    const key = await application.mintOne({ durationSeconds: 3600, subscriptionTier: 5 });
    const user = await created({ licenseKey: key.licenseKey, email: 'grace@example.com' });
    expect(user).toEqual({
      id: user.id,
      applicationId: application.id,
      username: 'grace',
      email: 'grace@example.com',
      licenseId: key.id,
      subscriptionTier: 5,
      lastIp: null,
      lastHwid: null,
      createdAt: user.createdAt,
      updatedAt: user.updatedAt,
    });
    const license = await storedLicense(server, key.id);
    expect(license).toMatchObject({ status: 'active', hwid: null, lastIp: null });
    const { activatedAt, expiresAt } = license ?? {};
    expect(Number(expiresAt) - Number(activatedAt)).toBe(3_600_000);
    const session = await openSession(server, application);
    expect(await session.ask(validatePath, { licenseKey: key.licenseKey, hwid: 'first' })).toMatchObject({
      code: 'OK',
    });
  });

  test('with a used key does not change its term and device', async () => {
    const key = await application.mintOne({ durationSeconds: 3600 });
    const session = await openSession(server, application);
    await session.ask(validatePath, { licenseKey: key.licenseKey, hwid: 'device' });
    const before = await storedLicense(server, key.id);
    server.clock.step(60);
    await created({ licenseKey: key.licenseKey });
    expect(await storedLicense(server, key.id)).toMatchObject({
      status: 'active',
      hwid: 'device',
      activatedAt: before?.activatedAt,
      expiresAt: before?.expiresAt,
    });
  });

  test('without a key is refused while one is required, even for the owner', async () => {
    await application.settings({ responseMessages: { LICENSE_REQUIRED: 'Buy one first.' } });
    const { error } = expectFailure(await create({}), 400, 'LICENSE_REQUIRED');
    expect(error).toBe('Buy one first.');
    for (const bypass of [{ admin: true }, { requireLicenseToRegister: false }, { licenseId: missingId }]) {
      expectFailure(await create(bypass), 400, 'VALIDATION_FAILED');
    }
    expect(await countUsers()).toBe(0);
  });

  test('without a key creates a user without a license if none is required', async () => {
    await open();
    expect(await created({})).toMatchObject({ licenseId: null, subscriptionTier: null, email: null });
  });

  test('starts no client session, and the user can log in', async () => {
    await open();
    const user = await created({});
    expect(await prisma().endUserSession.count({ where: { endUserId: user.id } })).toBe(0);
    const session = await openSession(server, application);
    const login = await session.ask('/api/v1/client/login', { username: 'grace', password });
    expect(login).toMatchObject({ code: 'OK', user: { id: user.id } });
  });

  test('stores the password only as Argon2id', async () => {
    await open();
    const user = await created({});
    const row = await prisma().endUser.findUniqueOrThrow({ where: { id: user.id } });
    expect(row.passwordHash).toMatch(/^\$argon2id\$/);
    expect(JSON.stringify(await sql(server, 'SELECT end_users::text FROM end_users'))).not.toContain(
      password,
    );
  });

  test('is logged as user_created', async () => {
    const key = await application.mintOne();
    const user = await created({ licenseKey: key.licenseKey });
    const entries = await prisma().securityLogEntry.findMany({
      where: { applicationId: application.id, event: 'user_created' },
    });
    expect(entries).toMatchObject([
      { userId: user.id, licenseId: key.id, ip: world.client.ip, metadata: { username: 'grace' } },
    ]);
  });

  test('with a taken name is refused and leaves the key unused', async () => {
    await open();
    await created({});
    const key = await application.mintOne({ durationSeconds: 60 });
    expectFailure(await create({ licenseKey: key.licenseKey }), 409, 'USERNAME_TAKEN');
    expect(await storedLicense(server, key.id)).toMatchObject({ status: 'unused', activatedAt: null });
    expectFailure(await create({}), 409, 'USERNAME_TAKEN');
    expect(await storedLog(server, application.id, 'user_created')).toHaveLength(1);
    const other = await world.createApplication();
    await other.settings({ requireLicenseToRegister: false });
    expect(
      (await world.client.post(`/api/v1/apps/${other.id}/users`, { username: 'grace', password })).status,
    ).toBe(201);
  });

  test("reports a problem of the key with the application's message", async () => {
    await application.settings({ responseMessages: { BANNED: 'Out!', LICENSE_NOT_FOUND: 'Which key?' } });
    const missing = expectFailure(await create({ licenseKey: 'AAAAA' }), 404, 'LICENSE_NOT_FOUND');
    expect(missing.error).toBe('Which key?');

    const banned = await application.mintOne();
    expect((await world.client.post(`/api/v1/licenses/${banned.id}/ban`)).status).toBe(200);
    expect(expectFailure(await create({ licenseKey: banned.licenseKey }), 403, 'BANNED').error).toBe('Out!');

    const foreign = await (await world.createApplication()).mintOne();
    expectFailure(await create({ licenseKey: foreign.licenseKey }), 403, 'APP_MISMATCH');
    expect(await storedLicense(server, foreign.id)).toMatchObject({ status: 'unused' });

    const ended = await application.mintOne({ durationSeconds: 60 });
    await created({ username: 'first', licenseKey: ended.licenseKey });
    server.clock.step(61);
    expectFailure(await create({ licenseKey: ended.licenseKey }), 403, 'EXPIRED');
    expect(await countUsers()).toBe(1);
  });

  test('works in a disabled application, so that its developer can prepare it', async () => {
    await application.settings({ status: 'disabled', requireLicenseToRegister: false });
    await created({});
  });

  test.each([
    ['username', 'ab'],
    ['username', 'a'.repeat(65)],
    ['username', 'gr ace'],
    ['username', 'grâce'],
    ['username', 'grace\n'],
    ['username', null],
    ['password', 'short77'],
    ['password', 'x'.repeat(1025)],
    ['password', 'nul\u0000nul nul'],
    ['password', 12345678],
    ['email', 'no address'],
    ['email', null],
    ['licenseKey', ''],
    ['licenseKey', 'x'.repeat(257)],
    ['licenseKey', null],
  ])('refuses the %s %j', async (field, value) => {
    await open();
    expectIssue(await create({ [field]: value }), field);
    expect(await countUsers()).toBe(0);
  });

  test.each([
    ['username', 'abc'],
    ['username', 'A.b_c-9'.padEnd(64, 'x')],
    ['password', 'eight888'],
    ['password', '🗝️🗝️🗝️🗝️'],
  ])('accepts the %s %j', async (field, value) => {
    await open();
    await created({ [field]: value });
  });
});

describe('the list of users', () => {
  const seed = async (amount: number) => {
    const names = Array.from({ length: amount }, (_, index) => `user${String(index).padStart(3, '0')}`);
    await prisma().endUser.createMany({
      data: names.map((username, index) => ({
        id: newId(),
        applicationId: application.id,
        username,
        email: index % 2 === 0 ? `Even${index}@Example.com` : null,
        lastIp: index === 3 ? '203.0.113.9' : null,
        lastHwid: index === 4 ? 'HW%_4' : null,
        passwordHash: '$argon2id$v=19$none',
      })),
    });
    return names;
  };

  test('is paged newest first, without a gap, while users are added', async () => {
    const names = await seed(7);
    const first = await list({ limit: '3' });
    await open();
    await created({ username: 'newest' });
    const second = await list({ limit: '3', cursor: first.nextCursor ?? '' });
    const third = await list({ limit: '3', cursor: second.nextCursor ?? '' });
    expect([...first.users, ...second.users, ...third.users].map((user) => user.username)).toEqual(
      [...names].reverse(),
    );
    expect(third.nextCursor).toBeNull();
    expect((await list({ limit: '1' })).users[0]?.username).toBe('newest');
  });

  test('has fifty by default', async () => {
    await seed(52);
    const { users, nextCursor } = await list();
    expect(users).toHaveLength(50);
    expect((await list({ cursor: nextCursor ?? '' })).users).toHaveLength(2);
  });

  test.each<[string, string[]]>([
    ['USER00', ['user005', 'user004', 'user003', 'user002', 'user001', 'user000']],
    ['even2@', ['user002']],
    ['203.0.113', ['user003']],
    ['%_', ['user004']],
    ['_', ['user004']],
    ['nobody', []],
    ['', ['user005', 'user004', 'user003', 'user002', 'user001', 'user000']],
  ])('searched for %j', async (q, names) => {
    await seed(6);
    expect((await list({ q })).users.map((user) => user.username)).toEqual(names);
  });

  test('is searched page by page', async () => {
    await seed(6);
    const first = await list({ q: 'even', limit: '2' });
    expect(first.users.map((user) => user.username)).toEqual(['user004', 'user002']);
    const second = await list({ q: 'even', limit: '2', cursor: first.nextCursor ?? '' });
    expect(second).toMatchObject({ users: [{ username: 'user000' }], nextCursor: null });
  });

  test.each([
    ['limit', '0'],
    ['limit', '201'],
    ['limit', 'ten'],
    ['limit', '-1'],
    ['cursor', 'rubbish'],
    ['cursor', missingId],
    ['q', 'x'.repeat(201)],
    ['q', '\0'],
  ])('refuses %s=%j', async (name, value) => {
    const query = new URLSearchParams({ [name]: value }).toString();
    expectIssue(await world.client.get(`${usersPath()}?${query}`), name);
  });

  test("shows a user's last address and device, and the tier of the license", async () => {
    const { user, session, license } = await registered({ hwid: 'device', email: 'grace@example.com' });
    expect(user).toMatchObject({
      username: 'grace',
      email: 'grace@example.com',
      licenseId: license.id,
      subscriptionTier: 2,
      lastIp: session.client.ip,
      lastHwid: 'device',
    });
  });
});

describe('deleting a user', () => {
  test('erases the row and the sessions, and keeps license and log', async () => {
    const { user, license } = await registered({ hwid: 'device' });
    await storedLog(server, application.id, 'user_registered');
    const before = await storedLicense(server, license.id);
    expectSuccess(await world.client.delete(`${usersPath()}/${user.id}`), 200, doneAnswer);
    expect(await countUsers()).toBe(0);
    expect(await prisma().endUserSession.count({ where: { endUserId: user.id } })).toBe(0);
    expect(await storedLicense(server, license.id)).toEqual(before);
    expect(await storedLog(server, application.id, 'user_registered')).toMatchObject([{ code: 'OK' }]);
    const entry = await prisma().securityLogEntry.findFirstOrThrow({
      where: { applicationId: application.id, event: 'user_deleted' },
    });
    expect(entry).toMatchObject({ userId: user.id, licenseId: license.id, ip: world.client.ip });
    expect(JSON.stringify(entry)).not.toContain('grace');
    const session = await openSession(server, application);
    expect(await session.ask('/api/v1/client/login', { username: 'grace', password })).toMatchObject({
      code: 'INVALID_CREDENTIALS',
    });
    expect(await session.ask(validatePath, { licenseKey: license.licenseKey, hwid: 'device' })).toMatchObject(
      {
        code: 'OK',
      },
    );
    expectFailure(await world.client.delete(`${usersPath()}/${user.id}`), 404, 'USER_NOT_FOUND');
  });

  test('after an export leaves no trace of the person in any table except the log', async () => {
    const { user } = await registered({
      username: 'erase.me',
      email: 'erase@example.com',
      hwid: 'their-hwid',
    });
    expect(JSON.stringify(await exported())).toContain('erase@example.com');
    expectSuccess(await world.client.delete(`${usersPath()}/${user.id}`), 200, doneAnswer);
    const after = await exported();
    expect(after.users).toEqual([]);
    for (const table of [
      'developers',
      'applications',
      'licenses',
      'end_users',
      'end_user_sessions',
      'bans',
    ]) {
      const dump = JSON.stringify(await sql(server, `SELECT t::text FROM ${table} AS t`));
      for (const trace of ['erase.me', 'erase@example.com', user.id]) {
        expect(dump, `${trace} in ${table}`).not.toContain(trace);
      }
    }
    expect(JSON.stringify(after.securityLog)).not.toContain('erase@example.com');
  });

  test('of another application of the same developer is not possible through this one', async () => {
    await open();
    const user = await created({});
    const other = await world.createApplication();
    const path = `/api/v1/apps/${other.id}/users/${user.id}`;
    expectFailure(await world.client.delete(path), 404, 'USER_NOT_FOUND');
    expectFailure(await world.client.post(`${path}/reset-hwid`), 404, 'USER_NOT_FOUND');
    expect(await countUsers()).toBe(1);
  });
});

describe("resetting a user's device", () => {
  test('clears it, unbinds the license, keeps status and term, and logs the previous device', async () => {
    const { user, license, session } = await registered({ hwid: 'old' });
    await server.deps.services.securityLog.flush();
    const before = await storedLicense(server, license.id);
    expect(before).toMatchObject({ hwid: 'old' });
    expectSuccess(await reset(user.id), 200, doneAnswer);
    expect((await list()).users[0]).toMatchObject({ lastHwid: null, lastIp: user.lastIp });
    expect(await storedLicense(server, license.id)).toEqual({ ...before, hwid: null });
    const entries = await prisma().securityLogEntry.findMany({
      where: { applicationId: application.id, event: 'hwid_reset' },
    });
    expect(entries).toMatchObject([
      { userId: user.id, licenseId: license.id, hwid: 'old', metadata: { previousHwid: 'old' } },
    ]);
    const login = await session.ask('/api/v1/client/login', { username: 'grace', password, hwid: 'new' });
    expect(login).toMatchObject({ code: 'OK' });
    expect(await storedLicense(server, license.id)).toMatchObject({ hwid: 'new' });
  });

  test('works for a user without a license', async () => {
    await open();
    const user = await created({});
    expectFailure(await reset(user.id), 400, 'HWID_NOT_SET');
    const session = await openSession(server, application);
    await session.ask('/api/v1/client/login', { username: 'grace', password, hwid: 'old' });
    expectSuccess(await reset(user.id), 200, doneAnswer);
    expectFailure(await reset(user.id), 400, 'HWID_NOT_SET');
    expect(await storedLog(server, application.id, 'hwid_reset')).toHaveLength(1);
  });

  test('works if only the license is bound', async () => {
    const key = await application.mintOne();
    const user = await created({ licenseKey: key.licenseKey });
    const session = await openSession(server, application);
    await session.ask(validatePath, { licenseKey: key.licenseKey, hwid: 'device' });
    expectSuccess(await reset(user.id), 200, doneAnswer);
    expect(await storedLicense(server, key.id)).toMatchObject({ hwid: null });
  });

  test('works if only the user has a device and the license is unbound', async () => {
    const { user, license } = await registered({ hwid: 'device' });
    expect((await world.client.post(`/api/v1/licenses/${license.id}/reset-hwid`)).status).toBe(200);
    expectSuccess(await reset(user.id), 200, doneAnswer);
  });

  test('is refused if the license is banned, and changes nothing', async () => {
    const { user, license } = await registered({ hwid: 'device' });
    await world.client.post(`/api/v1/licenses/${license.id}/ban`);
    expectFailure(await reset(user.id), 400, 'LICENSE_BANNED');
    expect(await storedLicense(server, license.id)).toMatchObject({ status: 'banned', hwid: 'device' });
    expect((await list()).users[0]).toMatchObject({ lastHwid: 'device' });
  });

  test('keeps bans of the device', async () => {
    const { user, session, license } = await registered({ hwid: 'device' });
    await session.ask(validatePath, { licenseKey: license.licenseKey });
    await insertBan(server, application.id, 'hwid', 'device');
    expectSuccess(await reset(user.id), 200, doneAnswer);
    expect(await prisma().ban.count({ where: { applicationId: application.id } })).toBe(1);
  });
});

describe('the export of users', () => {
  const makeMany = (count: number) =>
    sql(
      server,
      `INSERT INTO end_users (id, application_id, username, password_hash)
       SELECT overlay(gen_random_uuid()::text PLACING '7' FROM 15)::uuid, $1, 'user-' || number, '$argon2id$none' FROM generate_series(1, $2::int) AS number`,
      [application.id, count],
    );

  test('contains all users, each once, newest first', async () => {
    await makeMany(2_345);
    const { users } = await exported();
    const ids = users.map(({ id }) => id);
    expect(new Set(users.map(({ username }) => username)).size).toBe(2_345);
    expect(ids).toEqual(ids.toSorted().toReversed());
  });

  test('is aborted and recognizably incomplete if the database fails during it', async () => {
    await makeMany(2_345);
    await sql(server, 'ALTER TABLE bans RENAME TO elsewhere');
    onTestFinished(async () => void (await sql(server, 'ALTER TABLE elsewhere RENAME TO bans')));
    const answer = await world.client.open('GET', `${usersPath()}/export`);
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow();
    expect(server.logLines.some((line) => line.includes('An export was aborted'))).toBe(true);
  });

  test('contains the stored data, and no secret', async () => {
    const { user, license, session, sessionToken } = await registered({
      hwid: 'device',
      email: 'grace@example.com',
    });
    await world.client.post(`/api/v1/licenses/${license.id}/ban`, { scope: 'hwid_and_ip' });
    await server.deps.services.securityLog.flush();
    const value = await exported();
    expect(value.applicationId).toBe(application.id);
    expect(value.users).toMatchObject([
      {
        id: user.id,
        username: 'grace',
        email: 'grace@example.com',
        lastIp: session.client.ip,
        lastHwid: 'device',
        licenseId: license.id,
        subscriptionTier: 2,
        license: {
          id: license.id,
          status: 'banned',
          hwid: 'device',
          lastIp: session.client.ip,
          keyPrefix: license.keyPrefix,
        },
        sessions: [{ ip: session.client.ip, hwid: 'device' }],
      },
    ]);
    expect(value.bans.map((row) => row.value).sort()).toEqual([session.client.ip, 'device'].sort());
    expect(value.securityLog.map((entry) => entry.event)).toEqual(
      expect.arrayContaining(['user_registered', 'license_banned']),
    );
    const text = JSON.stringify(value);
    const { passwordHash } = await prisma().endUser.findUniqueOrThrow({ where: { id: user.id } });
    const secrets = [password, passwordHash, sessionToken, license.licenseKey];
    const hashes = [sessionToken, license.licenseKey].map((secret) => createHash('sha256').update(secret));
    for (const secret of [...secrets, ...hashes.map((hash) => hash.digest('hex'))]) {
      expect(text).not.toContain(secret);
    }
  });

  test('has only users of this application', async () => {
    await registered();
    const other = await world.createApplication();
    const answer = await world.client.get(`/api/v1/apps/${other.id}/users/export`);
    expect(expectSuccess(answer, 200, userExportAnswer).export).toMatchObject({ users: [], bans: [] });
  });

  test('shows an ended license as expired', async () => {
    const key = await application.mintOne({ durationSeconds: 10 });
    await created({ licenseKey: key.licenseKey });
    server.clock.step(11);
    expect((await exported()).users[0]?.license?.status).toBe('expired');
  });
});

test('a user in another developer’s application gets the same response as a missing one', async () => {
  await open();
  const user = await created({});
  const stranger = await createWorld(server);
  const own = await stranger.createApplication();
  const ask = async (applicationId: string, userId: string) => {
    const path = `/api/v1/apps/${applicationId}/users`;
    const { client } = stranger;
    return Promise.all([
      client.get(path),
      client.post(path, { username: 'eve', password }),
      client.get(`${path}/export`),
      client.delete(`${path}/${userId}`),
      client.post(`${path}/${userId}/reset-hwid`),
    ]);
  };
  const [foreign, missing] = await Promise.all([ask(application.id, user.id), ask(missingId, missingId)]);
  expect(foreign.map(({ status, body }) => ({ status, body }))).toEqual(
    missing.map(({ status, body }) => ({ status, body })),
  );
  for (const answer of foreign) expectFailure(answer, 404, 'APP_NOT_FOUND');
  // Also through the other developer's own application.
  const throughOwn = await stranger.client.delete(`/api/v1/apps/${own.id}/users/${user.id}`);
  expectFailure(throughOwn, 404, 'USER_NOT_FOUND');
  expect(await countUsers()).toBe(1);
});

test('malformed ids are not found', async () => {
  for (const userId of ['1', 'nobody', `${missingId}x`, "'--"]) {
    const path = `${usersPath()}/${encodeURIComponent(userId)}`;
    expectFailure(await world.client.delete(path), 404, 'USER_NOT_FOUND');
    expectFailure(await world.client.post(`${path}/reset-hwid`), 404, 'USER_NOT_FOUND');
  }
  expectFailure(await new ApiClient(server.baseUrl).get(usersPath()), 401, 'UNAUTHENTICATED');
});
