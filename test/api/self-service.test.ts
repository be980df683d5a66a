import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { createCallClient } from '../setup/call-client.ts';
import { stateBesideLog } from '../setup/end-users.ts';
import { openSession } from '../setup/sealed-client.ts';
import {
  type AskDevices,
  deviceClient,
  resultOf,
  type SelfServiceTerms,
  setSelfService,
  storedDevices,
} from '../setup/self-service.ts';
import { startTestServer } from '../setup/server.ts';
import { insertBan, sql, storedLicense, storedLog } from '../setup/stored.ts';
import { forTest, useWorld } from '../setup/use-world.ts';
import type { SeededLicense } from '../setup/world.ts';
import { createWorld } from '../setup/world.ts';
import { noLimits } from './support.ts';

const { server, world } = useWorld({ env: noLimits });
const application = forTest(() => world.createApplication());

const password = 'a long password';
const now = () => server.clock.now();
const inSeconds = (seconds: number) => new Date(now() + seconds * 1000).toISOString();

describe.each([1, 2] as const)('in version %i,', (protocol) => {
  let ask: AskDevices;
  let license: SeededLicense;
  beforeEach(async () => {
    server.clock.hold();
    ask = await deviceClient(server, application, protocol);
    license = await application.mintOne({ durationSeconds: 3_600 });
  });

  const allow = (terms: SelfServiceTerms = {}) => setSelfService([server], license.id, terms);
  const codeOf = async (call: Parameters<AskDevices>[0], members: object) =>
    String((await ask(call, { licenseKey: license.licenseKey, ...members })).code);
  const list = (members: object = {}) => ask('devices.list', { licenseKey: license.licenseKey, ...members });
  const release = (deviceId: unknown, members: object = {}) =>
    ask('devices.release', { licenseKey: license.licenseKey, deviceId, ...members });
  const move = (hwid: string, members: object = {}) =>
    ask('devices.move', { licenseKey: license.licenseKey, hwid, ...members });
  const bind = async (...hwids: string[]) => {
    for (const hwid of hwids) expect(await codeOf('validate', { hwid })).toBe('OK');
    return Object.fromEntries(
      (await storedDevices(server, license.id)).map(({ hwid, id }) => [hwid ?? '', id]),
    );
  };

  describe('a list', () => {
    test('has names, ids and times of the active devices, and marks the one that asks', async () => {
      await allow({ deviceLimit: 3 });
      const labels = { deviceName: "Ada's laptop", platform: 'Linux' };
      expect(await codeOf('validate', { hwid: 'laptop', ...labels })).toBe('OK');
      const boundAt = inSeconds(0);
      server.clock.step(60);
      const { laptop, desktop } = await bind('desktop');
      const answer = await list({ hwid: 'laptop' });
      expect(resultOf(answer)).toEqual({
        success: true,
        code: 'OK',
        licenseId: license.id,
        devices: [
          {
            id: laptop,
            name: "Ada's laptop",
            platform: 'Linux',
            firstSeenAt: boundAt,
            lastSeenAt: expect.stringMatching(/:00\.000Z$/),
            current: true,
          },
          {
            id: desktop,
            name: null,
            platform: null,
            firstSeenAt: inSeconds(0),
            lastSeenAt: expect.stringMatching(/:00\.000Z$/),
          },
        ],
        deviceLimit: 3,
        nextMoveAt: null,
        movesLeft: null,
      });
      // Neither an address nor a HWID reaches whoever has the key.
      expect(JSON.stringify(answer)).not.toMatch(/10\.\d+\.\d+\.\d+|desktop/);
    });

    test('ignores malformed labels of a device', async () => {
      await allow();
      expect(await codeOf('validate', { hwid: 'laptop', deviceName: 'n'.repeat(65), platform: 7 })).toBe(
        'OK',
      );
      expect(await list()).toMatchObject({ devices: [{ name: null, platform: null }] });
    });

    test('comes in parts of at most 100 that fit into an answer, whatever the names', async () => {
      await allow({ deviceLimit: 1_000 });
      const name = '\u0001'.repeat(64);
      await sql(
        server,
        `INSERT INTO devices (id, license_id, hwid, name, platform, first_seen_at, last_seen_at)
         SELECT gen_random_uuid(), $1, 'device ' || n, $2, $2, now(), now() FROM generate_series(1, 250) AS n`,
        [license.id, protocol === 1 ? name : null],
      );
      const found = new Set<string>();
      let after: unknown;
      let requests = 0;
      do {
        const answer = await list(after === undefined ? {} : { after });
        const devices = answer.devices as { id: string }[];
        expect(devices.length).toBeLessThanOrEqual(100);
        // Base64 makes a third more of it, in version 1.
        expect(JSON.stringify(answer).length).toBeLessThan(45_000);
        for (const { id } of devices) found.add(id);
        after = answer.next;
        requests += 1;
      } while (after !== undefined && requests < 20);
      expect(found.size).toBe(250);
    });

    test('changes nothing, also of a license that was never used', async () => {
      await allow();
      const before = await stateBesideLog(server);
      expect(await list()).toMatchObject({ code: 'OK', devices: [] });
      expect(await stateBesideLog(server)).toEqual(before);
    });
  });

  describe('a release', () => {
    test('frees a place; the device then reads when it was released', async () => {
      await allow({ deviceLimit: 2 });
      const { old } = await bind('old', 'other');
      expect(resultOf(await release(old, { hwid: 'old' }))).toEqual({
        success: true,
        code: 'OK',
        licenseId: license.id,
        releasedDeviceId: old,
        current: true,
        nextMoveAt: null,
        movesLeft: null,
      });
      const releasedAt = inSeconds(0);
      server.clock.step(5);
      const verdict = await ask('validate', { licenseKey: license.licenseKey, hwid: 'old' });
      expect(verdict).toMatchObject({ success: false, code: 'DEVICE_RELEASED', releasedAt });
      expect(await codeOf('validate', { hwid: 'other' })).toBe('OK');
      expect(await codeOf('validate', { hwid: 'new' })).toBe('OK');
    });

    test('is in the security log, with the device', async () => {
      await allow();
      const { old } = await bind('old');
      await release(old);
      expect(await storedLog(server, application.id, 'device_released')).toMatchObject([
        { licenseId: license.id, hwid: 'old', metadata: { deviceId: old, by: 'customer' } },
      ]);
    });

    test('of another device does not say that it is the one that asks', async () => {
      await allow({ deviceLimit: 2 });
      const { old } = await bind('old', 'other');
      expect(await release(old, { hwid: 'other' })).not.toHaveProperty('current');
    });

    test('revokes the leases of the license', async () => {
      await application.settings({ leasesEnabled: true });
      await allow();
      const { old } = await bind('old');
      const leased = await deviceClient(server, application, 2);
      const answer = await leased('validate', { licenseKey: license.licenseKey, hwid: 'old', lease: true });
      expect(answer).toHaveProperty('lease');
      const revoked = () =>
        sql(server, 'SELECT FROM leases WHERE license_id = $1 AND revoked_rev IS NOT NULL', [license.id]);
      expect(await revoked()).toHaveLength(0);
      await release(old);
      expect(await revoked()).toHaveLength(1);
    });
  });

  describe('a move', () => {
    test('binds the new device in the place of the old one, with its labels', async () => {
      await allow();
      const { old } = await bind('old');
      const answer = await move('new', { releaseDeviceId: old, deviceName: 'New one', platform: 'macOS' });
      const [, bound] = await storedDevices(server, license.id);
      expect(bound).toMatchObject({ hwid: 'new', name: 'New one', platform: 'macOS', releasedBy: null });
      expect(resultOf(answer)).toEqual({
        success: true,
        code: 'OK',
        licenseId: license.id,
        deviceId: bound?.id,
        releasedDeviceId: old,
        nextMoveAt: null,
        movesLeft: null,
      });
      expect(await codeOf('validate', { hwid: 'new' })).toBe('OK');
      expect(await codeOf('validate', { hwid: 'old' })).toBe('DEVICE_RELEASED');
      expect(await storedLicense(server, license.id)).toMatchObject({ hwid: 'new' });
      expect(await storedLog(server, application.id, 'device_moved')).toMatchObject([
        { licenseId: license.id, hwid: 'new', metadata: { deviceId: bound?.id, releasedDeviceId: old } },
      ]);
    });

    test('to a device that is bound already releases the other one', async () => {
      await allow({ deviceLimit: 2 });
      const { old, other } = await bind('old', 'other');
      expect(await move('other', { releaseDeviceId: old })).toMatchObject({ code: 'OK', deviceId: other });
      expect(await codeOf('validate', { hwid: 'old' })).toBe('DEVICE_RELEASED');
      expect(
        (await storedDevices(server, license.id)).filter((each) => each.releasedBy === null),
      ).toHaveLength(1);
    });

    test('of a device to itself changes nothing and costs nothing', async () => {
      await allow({ moves: { count: 1, periodSeconds: 600 }, cooldownSeconds: 60 });
      const { old } = await bind('old');
      const before = await stateBesideLog(server);
      const done = { code: 'OK', deviceId: old, nextMoveAt: null, movesLeft: 1 };
      const answer = await move('old', { releaseDeviceId: old });
      expect(answer).toMatchObject(done);
      expect(answer).not.toHaveProperty('releasedDeviceId');
      expect(await move('old')).toMatchObject(done);
      expect(await stateBesideLog(server)).toEqual(before);
    });

    test('without a device to release binds one that was released before', async () => {
      await allow();
      const { old } = await bind('old');
      await release(old);
      expect(await codeOf('validate', { hwid: 'old' })).toBe('DEVICE_RELEASED');
      expect(await move('old')).toMatchObject({ code: 'OK' });
      expect(await codeOf('validate', { hwid: 'old' })).toBe('OK');
    });

    test('uses a license that was never used', async () => {
      await allow();
      expect(await move('first')).toMatchObject({ code: 'OK' });
      const stored = await storedLicense(server, license.id);
      expect(stored).toMatchObject({ status: 'active', hwid: 'first' });
      expect(stored?.expiresAt?.getTime()).toBe(now() + 3_600_000);
    });

    test('takes the place of a device that is idle', async () => {
      await allow({ deviceLimit: 1, releaseIdleAfterSeconds: 600 });
      await bind('old');
      expect(await move('new')).toMatchObject({ code: 'DEVICE_LIMIT' });
      server.clock.step(700);
      expect(await move('new')).toMatchObject({ code: 'OK' });
      expect((await storedDevices(server, license.id)).map(({ releasedBy }) => releasedBy)).toEqual([
        'idle',
        null,
      ]);
    });
  });

  describe('limits:', () => {
    test('the cooldown ends at retryAt, to the millisecond', async () => {
      await allow({ cooldownSeconds: 60 });
      const { old } = await bind('old');
      const retryAt = inSeconds(60);
      expect(await move('two', { releaseDeviceId: old })).toMatchObject({ code: 'OK', nextMoveAt: retryAt });
      server.clock.step(59.999);
      const { two } = await bind('two');
      const refused = await move('three', { releaseDeviceId: two });
      expect(refused).toMatchObject({ success: false, code: 'MOVE_COOLDOWN', retryAt });
      expect(await release(two)).toMatchObject({ code: 'MOVE_COOLDOWN', retryAt });
      expect(await list()).toMatchObject({ nextMoveAt: retryAt });
      server.clock.step(0.001);
      expect(await move('three', { releaseDeviceId: two })).toMatchObject({ code: 'OK' });
    });

    test('a budget is a sliding window, in which a release counts too', async () => {
      await allow({ deviceLimit: 1, moves: { count: 2, periodSeconds: 600 } });
      const { old } = await bind('old');
      const resetsAt = inSeconds(600);
      expect(await release(old)).toMatchObject({ code: 'OK', movesLeft: 1, nextMoveAt: null });
      server.clock.step(100);
      expect(await move('new')).toMatchObject({ code: 'OK', movesLeft: 0, nextMoveAt: resetsAt });
      const { new: bound } = await bind('new');
      expect(await release(bound)).toMatchObject({ code: 'MOVES_EXHAUSTED', resetsAt });
      server.clock.step(499.999);
      expect(await release(bound)).toMatchObject({ code: 'MOVES_EXHAUSTED', resetsAt });
      server.clock.step(0.001);
      expect(await release(bound)).toMatchObject({ code: 'OK', movesLeft: 0 });
    });

    test('times after a clock was set back do not count', async () => {
      await allow({ cooldownSeconds: 600, moves: { count: 1, periodSeconds: 600 } });
      await sql(server, 'UPDATE licenses SET moved_at = ARRAY[$2::timestamptz] WHERE id = $1', [
        license.id,
        new Date(now() + 86_400_000),
      ]);
      expect(await list()).toMatchObject({ nextMoveAt: null, movesLeft: 1 });
      expect(await move('new')).toMatchObject({ code: 'OK', movesLeft: 0 });
    });

    test('times that an instance whose clock is ahead has noted do count', async () => {
      const noteMove = (ahead: number) =>
        sql(server, 'UPDATE licenses SET moved_at = ARRAY[$2::timestamptz] WHERE id = $1', [
          license.id,
          new Date(now() + ahead),
        ]);
      await allow({ cooldownSeconds: 600 });
      await noteMove(500);
      expect(await move('new')).toMatchObject({ code: 'MOVE_COOLDOWN', retryAt: inSeconds(600.5) });
      await allow({ moves: { count: 1, periodSeconds: 600 } });
      await noteMove(60_000);
      expect(await move('new')).toMatchObject({ code: 'MOVES_EXHAUSTED', resetsAt: inSeconds(660) });
      await noteMove(60_001);
      expect(await move('new')).toMatchObject({ code: 'OK' });
    });

    test('without a cooldown, a time ahead delays nothing', async () => {
      await allow();
      await sql(server, 'UPDATE licenses SET moved_at = ARRAY[$2::timestamptz] WHERE id = $1', [
        license.id,
        new Date(now() + 500),
      ]);
      expect(await move('new')).toMatchObject({ code: 'OK', nextMoveAt: null });
    });

    test('only the newest 100 times are kept', async () => {
      await allow();
      await sql(
        server,
        `UPDATE licenses SET moved_at = ARRAY(SELECT $2::timestamptz + n * interval '1 second'
         FROM generate_series(1, 100) AS n) WHERE id = $1`,
        [license.id, new Date(now() - 3_600_000)],
      );
      await move('new');
      const [row] = await sql<{ count: number; newest: Date }>(
        server,
        `SELECT cardinality(moved_at) AS count, moved_at[100] AS newest FROM licenses WHERE id = $1`,
        [license.id],
      );
      expect(row).toEqual({ count: 100, newest: new Date(now()) });
    });
  });

  describe('a refusal', () => {
    test.each(['off', 'account'] as const)(
      'with self-service %s is SELF_SERVICE_OFF for someone with the key',
      async (selfService) => {
        await allow({ selfService, deviceLimit: 2 });
        const { old } = await bind('old');
        const before = await stateBesideLog(server);
        for (const answer of [
          await list({ hwid: 'old' }),
          await release(old),
          await move('stranger', { releaseDeviceId: old }),
          await move('stranger'),
        ]) {
          expect(resultOf(answer)).toEqual({ success: false, code: 'SELF_SERVICE_OFF' });
        }
        expect(await stateBesideLog(server)).toEqual(before);
        expect(await storedLog(server, application.id, 'self_service_refused')).toMatchObject(
          ['devices.list', 'devices.release', 'devices.move', 'devices.move'].map((call) => ({
            code: 'SELF_SERVICE_OFF',
            licenseId: license.id,
            metadata: { call },
          })),
        );
      },
    );

    test('in an application that does not lock licenses to devices is SELF_SERVICE_OFF', async () => {
      await allow();
      await application.settings({ hwidLockEnabled: false });
      expect(await move('new')).toMatchObject({ code: 'SELF_SERVICE_OFF' });
    });

    test('of a device of another license, or of one that was released, is DEVICE_UNKNOWN', async () => {
      await allow({ deviceLimit: 2 });
      const { old } = await bind('old', 'mine');
      await release(old);
      const other = await application.mintOne();
      await setSelfService([server], other.id, {});
      await ask('validate', { licenseKey: other.licenseKey, hwid: 'foreign' });
      const [foreign] = await storedDevices(server, other.id);
      for (const id of [old, foreign?.id, randomUUID()]) {
        expect(await release(id)).toMatchObject({ code: 'DEVICE_UNKNOWN' });
        expect(await move('new', { releaseDeviceId: id })).toMatchObject({ code: 'DEVICE_UNKNOWN' });
      }
      expect(await codeOf('validate', { hwid: 'mine' })).toBe('OK');
      expect(await ask('validate', { licenseKey: other.licenseKey, hwid: 'foreign' })).toMatchObject({
        code: 'OK',
      });
    });

    test('without room is DEVICE_LIMIT, also above a limit that was lowered', async () => {
      await allow({ deviceLimit: 3 });
      const { one } = await bind('one', 'two', 'three');
      expect(await move('four')).toMatchObject({ code: 'DEVICE_LIMIT' });
      await allow({ deviceLimit: 2 });
      expect(await move('four', { releaseDeviceId: one })).toMatchObject({ code: 'DEVICE_LIMIT' });
      expect(await codeOf('validate', { hwid: 'one' })).toBe('OK');
    });

    test('comes before the moves: the client, the license, the device, the cooldown', async () => {
      await allow({ cooldownSeconds: 600, deviceLimit: 1 });
      const { old } = await bind('old');
      expect(await move('new', { releaseDeviceId: old })).toMatchObject({ code: 'OK' });
      const all = { releaseDeviceId: old };
      // From the last rule to the first.
      expect(await move('other')).toMatchObject({ code: 'MOVE_COOLDOWN' });
      expect(await move('other', all)).toMatchObject({ code: 'DEVICE_UNKNOWN' });
      await allow({ selfService: 'off' });
      expect(await move('other', all)).toMatchObject({ code: 'SELF_SERVICE_OFF' });
      await sql(server, 'UPDATE licenses SET expires_at = $2 WHERE id = $1', [license.id, new Date(now())]);
      await allow({ selfService: 'off' });
      expect(await move('other', all)).toMatchObject({ code: 'EXPIRED' });
      await sql(server, 'UPDATE licenses SET suspended_at = now() WHERE id = $1', [license.id]);
      await allow({ selfService: 'off' });
      expect(await move('other', all)).toMatchObject({ code: 'SUSPENDED' });
      const banned = await world.client.post(`/api/v1/licenses/${license.id}/ban`, {});
      expect(banned.status).toBe(200);
      expect(await move('other', all)).toMatchObject({ code: 'BANNED' });
      expect(await move('other', { ...all, licenseKey: 'NO-SUCH-KEY' })).toMatchObject({
        code: 'LICENSE_NOT_FOUND',
      });
      await insertBan(server, application.id, 'hwid', 'other');
      expect(await move('other', all)).toMatchObject({ code: 'HWID_BANNED' });
      expect(await list({ hwid: 'other' })).toMatchObject({ code: 'HWID_BANNED' });
      expect(await list()).toMatchObject({ code: 'BANNED' });
    });

    test('of a license of another application is APP_MISMATCH, and names it nowhere', async () => {
      const other = await (await world.createApplication()).mintOne();
      expect(await list({ licenseKey: other.licenseKey })).toMatchObject({ code: 'APP_MISMATCH' });
      expect(await move('new', { licenseKey: other.licenseKey })).toMatchObject({ code: 'APP_MISMATCH' });
      const refusals = await storedLog(server, application.id, 'self_service_refused');
      expect(refusals.map(({ licenseId }) => licenseId)).toEqual([null, null]);
    });

    test.each([
      ['neither key nor account', { licenseKey: undefined }],
      ['both', { username: 'ada', password }],
      ['a device that is no UUID', { releaseDeviceId: 'laptop' }],
      ['no hwid', { hwid: undefined }],
    ])('of a request with %s is VALIDATION_FAILED', async (_why, members) => {
      expect(await move('new', members)).toMatchObject({ success: false, code: 'VALIDATION_FAILED' });
    });
  });

  describe('with an account,', () => {
    const ada = { username: 'ada', password, licenseKey: undefined };
    const register = async (licenseKey?: string) => {
      const members = { username: 'ada', password, ...(licenseKey !== undefined && { licenseKey }) };
      const answer = await world.client.post(`/api/v1/apps/${application.id}/users`, members);
      expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    };

    test.each(['account', 'key'] as const)('devices of a license with %s are moved', async (selfService) => {
      await register(license.licenseKey);
      await allow({ selfService });
      const { old } = await bind('old');
      expect(await list(ada)).toMatchObject({ code: 'OK', devices: [{ id: old }] });
      expect(await move('new', { ...ada, releaseDeviceId: old })).toMatchObject({ code: 'OK' });
      const { new: bound } = await bind('new');
      expect(await release(bound, ada)).toMatchObject({ code: 'OK' });
      const [entry] = await sql<{ userId: string | null }>(
        server,
        `SELECT user_id AS "userId" FROM security_log WHERE application_id = $1 AND event = 'device_moved'`,
        [application.id],
      );
      expect(entry?.userId).not.toBeNull();
    });

    test('only the account of the license may: the first that used it on one of its devices', async () => {
      await application.settings({ requireLicenseToRegister: false });
      await allow({ selfService: 'account' });
      const client = await openSession(server, application);
      const enter = (call: string, username: string, members: object = {}) =>
        client.ask(`/api/v1/client/${call}`, { username, password, ...members });
      const key = { licenseKey: license.licenseKey };
      const { old } = await bind('old');
      // Whoever has the key can have an account for it, in two ways.
      expect(await enter('register', 'mallory', key)).toMatchObject({ code: 'OK' });
      expect(await enter('register', 'trudy')).toMatchObject({ code: 'OK' });
      const higher = await application.mintOne({ subscriptionTier: 1 });
      expect(higher.id).not.toBe(license.id);
      await sql(server, 'UPDATE licenses SET subscription_tier = 1 WHERE id = $1', [license.id]);
      await server.deps.services.changes.tell([{ cache: 'license', keys: 'all' }]);
      expect(await enter('upgrade', 'trudy', key)).toMatchObject({ code: 'OK' });
      const asking = (username: string) => ({ username, password, licenseKey: undefined });
      for (const username of ['mallory', 'trudy']) {
        expect(await list(asking(username))).toMatchObject({ code: 'SELF_SERVICE_OFF' });
        expect(await move('evil', { ...asking(username), releaseDeviceId: old })).toMatchObject({
          code: 'SELF_SERVICE_OFF',
        });
      }
      expect(await enter('register', 'owner', { ...key, hwid: 'old' })).toMatchObject({ code: 'OK' });
      expect(await enter('login', 'mallory', { hwid: 'old' })).toMatchObject({ code: 'OK' });
      expect(await list(asking('mallory'))).toMatchObject({ code: 'SELF_SERVICE_OFF' });
      expect(await move('new', { ...asking('owner'), releaseDeviceId: old })).toMatchObject({ code: 'OK' });
    });

    test('a wrong password and an unknown user are INVALID_CREDENTIALS, whatever the license', async () => {
      await register(license.licenseKey);
      await allow({ selfService: 'off' });
      for (const wrong of [
        { ...ada, password: 'wrong' },
        { ...ada, username: 'nobody' },
      ]) {
        expect(resultOf(await list(wrong))).toEqual({ success: false, code: 'INVALID_CREDENTIALS' });
        expect(await move('new', wrong)).toMatchObject({ code: 'INVALID_CREDENTIALS' });
      }
      expect(await list(ada)).toMatchObject({ code: 'SELF_SERVICE_OFF' });
    });

    test('that has no license it is LICENSE_NOT_FOUND', async () => {
      await application.settings({ requireLicenseToRegister: false });
      await register();
      expect(await list(ada)).toMatchObject({ code: 'LICENSE_NOT_FOUND' });
      expect(await move('new', ada)).toMatchObject({ code: 'LICENSE_NOT_FOUND' });
    });
  });
});

test('passwords cannot be tried faster than with logins: both take of one limit', async () => {
  const limited = await startTestServer({ env: { RATE_LIMITS: 'clientAuth=3' } });
  try {
    const app = await (await createWorld(limited)).createApplication();
    const client = createCallClient(limited, app);
    const wrong = { username: 'ada', password: 'wrong' };
    const codes: unknown[] = [];
    for (const call of [
      'devices.list',
      'login',
      'devices.move',
      'devices.release',
      'devices.list',
      'login',
    ]) {
      codes.push((await client.ask(call, { ...wrong, hwid: 'x', deviceId: randomUUID() })).code);
    }
    const [limit, no] = ['RATE_LIMITED', 'INVALID_CREDENTIALS'];
    expect(codes).toEqual([no, no, no, limit, limit, limit]);
  } finally {
    await limited.close();
  }
});
