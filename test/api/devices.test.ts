import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ApiClient } from '../setup/api-client.ts';
import { createCallClient } from '../setup/call-client.ts';
import { deviceRequestOf } from '../setup/device-request.ts';
import { contradictions, setDeviceRules, storedDevices } from '../setup/devices.ts';
import { ask } from '../setup/end-users.ts';
import { GraphqlClient } from '../setup/graphql-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { deviceClient } from '../setup/self-service.ts';
import { insertBan, sql } from '../setup/stored.ts';
import { forTest, useWorld } from '../setup/use-world.ts';
import { createWorld, type SeededLicense } from '../setup/world.ts';
import {
  device,
  expectFailure,
  expectIssue,
  expectSuccess,
  licenseAnswer,
  licensesAnswer,
  noLimits,
} from './support.ts';

const { server, world } = useWorld({ env: noLimits });
const application = forTest(() => world.createApplication());

const devicesAnswer = z.strictObject({
  success: z.literal(true),
  devices: z.array(device),
  nextCursor: z.string().nullable(),
});
const deviceAnswer = z.strictObject({ success: z.literal(true), device });

const pathOf = ({ id }: SeededLicense) => `/api/v1/licenses/${id}/devices`;
const list = async (license: SeededLicense, query = '') =>
  expectSuccess(await world.client.get(pathOf(license) + query), 200, devicesAnswer);

/** Validates from an address of the device's own, unless one is given. */
async function validate(license: SeededLicense, hwid: string, ip?: string) {
  const client = new ApiClient(server.baseUrl, ip === undefined ? {} : { ip });
  return (await openSession(server, application, { client })).ask(validatePath, {
    licenseKey: license.licenseKey,
    hwid,
  });
}

async function boundTo(limit: number, ...hwids: readonly string[]): Promise<SeededLicense> {
  const license = await application.mintOne();
  await setDeviceRules([server], license, { device_limit: limit });
  for (const hwid of hwids) expect(await validate(license, hwid)).toMatchObject({ code: 'OK' });
  return license;
}

const flush = () => server.deps.services.securityLog.flush();
const lastEntry = async () => {
  const [entry] = await sql<{ event: string; hwid: string | null; metadata: unknown }>(
    server,
    'SELECT event, hwid, metadata FROM security_log WHERE application_id = $1 ORDER BY id DESC LIMIT 1',
    [application.id],
  );
  return entry;
};

test('a license was last seen when the last of its devices was, also a released one', async () => {
  const license = await boundTo(2, 'one');
  const unused = await application.mintOne();
  const find = async () => {
    const { body } = await world.client.get(`/api/v1/licenses/${license.id}`);
    const { licenses } = expectSuccess(
      await world.client.get(`/api/v1/apps/${application.id}/licenses`),
      200,
      licensesAnswer,
    );
    const listed = new Map(licenses.map(({ id, lastSeenAt }) => [id, lastSeenAt]));
    expect(listed.get(unused.id)).toBeNull();
    const { lastSeenAt } = licenseAnswer.parse(body).license;
    expect(listed.get(license.id)).toBe(lastSeenAt);
    const document = 'query ($id: ID!) { license(id: $id) { lastSeenAt } }';
    const asked = await new GraphqlClient(world.client).ask(document, { id: license.id });
    expect(asked.data).toEqual({ license: { lastSeenAt } });
    return lastSeenAt;
  };
  const before = await find();
  server.clock.step(600);
  expect(await validate(license, 'two')).toMatchObject({ code: 'OK' });
  const after = (await list(license)).devices.find(({ hwid }) => hwid === 'two');
  expect(await find()).toBe(after?.lastSeenAt);
  expect(Date.parse(after?.lastSeenAt ?? '') - Date.parse(before ?? '')).toBe(600_000);
  await world.client.delete(`${pathOf(license)}/${after?.id}`);
  expect(await find()).toBe(after?.lastSeenAt);
});

describe('the list of devices', () => {
  test('has the newest first, page by page, and by state', async () => {
    const license = await boundTo(3, 'one', 'two', 'three');
    const { devices } = await list(license);
    expect(devices.map(({ hwid, state }) => [hwid, state])).toEqual([
      ['three', 'active'],
      ['two', 'active'],
      ['one', 'active'],
    ]);
    const first = await list(license, '?limit=2');
    expect(first.devices).toEqual(devices.slice(0, 2));
    expect(await list(license, `?limit=2&cursor=${first.nextCursor}`)).toMatchObject({
      devices: devices.slice(2),
      nextCursor: null,
    });
    await world.client.delete(`${pathOf(license)}/${devices[1]?.id}`);
    const hwids = async (state: string) =>
      (await list(license, `?state=${state}`)).devices.map(({ hwid }) => hwid);
    expect(await hwids('active')).toEqual(['three', 'one']);
    expect(await hwids('released')).toEqual(['two']);
  });

  test('takes no other query', async () => {
    const license = await boundTo(1, 'one');
    expectIssue(await world.client.get(`${pathOf(license)}?state=lost`), 'state');
    expectIssue(await world.client.get(`${pathOf(license)}?q=one`), 'q');
  });

  test("is empty for a license that was not used, and not there for another developer's", async () => {
    const license = await application.mintOne();
    expect((await list(license)).devices).toEqual([]);
    const stranger = await createWorld(server);
    expectFailure(await stranger.client.get(pathOf(license)), 404, 'LICENSE_NOT_FOUND');
  });
});

describe('a device', () => {
  test('gets another name, or none, with a log entry', async () => {
    const license = await boundTo(1, 'one');
    const [own] = (await list(license)).devices;
    const path = `${pathOf(license)}/${own?.id}`;
    const named = expectSuccess(await world.client.patch(path, { name: 'Office' }), 200, deviceAnswer);
    expect(named.device).toEqual({ ...own, name: 'Office' });
    expect(await lastEntry()).toEqual({
      event: 'device_renamed',
      hwid: 'one',
      metadata: { deviceId: own?.id, previousName: null, name: 'Office' },
    });
    expect(expectSuccess(await world.client.patch(path, { name: null }), 200, deviceAnswer).device).toEqual(
      own,
    );
    for (const name of ['', ' ', 'a'.repeat(65), 'a\0'])
      expectIssue(await world.client.patch(path, { name }), 'name');
  });

  test('is released once, with a log entry, and its place is free', async () => {
    const license = await boundTo(2, 'one', 'two');
    const [, oldest] = (await list(license)).devices;
    const path = `${pathOf(license)}/${oldest?.id}`;
    await world.client.patch(path, { name: 'Office' });
    const { device: released } = expectSuccess(await world.client.delete(path), 200, deviceAnswer);
    expect(released).toMatchObject({ id: oldest?.id, state: 'released', releasedBy: 'vendor' });
    expect(await lastEntry()).toEqual({
      event: 'device_released',
      hwid: 'one',
      metadata: { deviceId: oldest?.id, by: 'vendor', name: 'Office' },
    });
    expectFailure(await world.client.delete(path), 409, 'INVALID_TRANSITION');
    expect(await validate(license, 'three')).toMatchObject({ code: 'OK' });
    expect(await validate(license, 'one')).toMatchObject({
      code: 'DEVICE_RELEASED',
      releasedAt: released.releasedAt,
    });
    expect(await contradictions(server, license.id)).toEqual([]);
    // Where there is room, and customers cannot help themselves, it is bound again as a new device.
    await setDeviceRules([server], license, { device_limit: 3 });
    expect(await validate(license, 'one')).toMatchObject({ code: 'OK' });
    expect((await list(license, '?state=active')).devices.map(({ hwid }) => hwid)).toEqual([
      'one',
      'three',
      'two',
    ]);
  });

  test('may return after the license was reset, even if customers move devices', async () => {
    const license = await boundTo(2, 'one', 'two');
    await setDeviceRules([server], license, { self_service: 'key' });
    expect((await world.client.post(`/api/v1/licenses/${license.id}/reset-hwid`)).status).toBe(200);
    expect((await list(license, '?state=active')).devices).toEqual([]);
    expect(await validate(license, 'one')).toMatchObject({ code: 'OK' });
    expect(await contradictions(server, license.id)).toEqual([]);
  });

  describe('that was released and came back before a reset', () => {
    const reset = async ({ id }: SeededLicense) =>
      expect((await world.client.post(`/api/v1/licenses/${id}/reset-hwid`)).status).toBe(200);
    const releaseActive = async (license: SeededLicense) => {
      const [active] = (await list(license, '?state=active')).devices;
      expect((await world.client.delete(`${pathOf(license)}/${active?.id}`)).status).toBe(200);
    };

    test('may return, if it came back by a move', async () => {
      const license = await boundTo(1, 'one');
      await setDeviceRules([server], license, { self_service: 'key' });
      await releaseActive(license);
      expect(await validate(license, 'one')).toMatchObject({ code: 'DEVICE_RELEASED' });
      const customer = await deviceClient(server, application, 2);
      const { licenseKey } = license;
      expect(await customer('devices.move', { licenseKey, hwid: 'one' })).toMatchObject({ code: 'OK' });
      await reset(license);
      expect(await validate(license, 'one')).toMatchObject({ code: 'OK' });
    });

    test('is like an unknown one, also if another device has its place', async () => {
      const license = await boundTo(1, 'one');
      await releaseActive(license);
      expect(await validate(license, 'one')).toMatchObject({ code: 'OK' });
      await reset(license);
      expect(await validate(license, 'two')).toMatchObject({ code: 'OK' });
      expect(await validate(license, 'one')).toMatchObject({ code: 'HWID_MISMATCH' });
    });

    test('may return, if only its hash was known before, and the reset is that of its user', async () => {
      const license = await application.mintOne();
      const deviceRequest = deviceRequestOf(application.id, 'one');
      const path = `/api/v1/licenses/${license.id}/offline-lease`;
      expect((await world.client.post(path, { deviceRequest })).status).toBe(201);
      await releaseActive(license);
      expect(await validate(license, 'one')).toMatchObject({ code: 'OK' });
      const user = { licenseKey: license.licenseKey, username: 'grace', password: 'a user password' };
      const created = await world.client.post(`/api/v1/apps/${application.id}/users`, user);
      const { id } = expectSuccess(created, 201, z.object({ user: z.object({ id: z.string() }) })).user;
      const resetUser = `/api/v1/apps/${application.id}/users/${id}/reset-hwid`;
      expect((await world.client.post(resetUser)).status).toBe(200);
      await setDeviceRules([server], license, { self_service: 'key' });
      expect(await validate(license, 'one')).toMatchObject({ code: 'OK' });
    });

    test('stays released, if it was not there at the reset', async () => {
      const license = await boundTo(2, 'one');
      await releaseActive(license);
      expect(await validate(license, 'two')).toMatchObject({ code: 'OK' });
      await setDeviceRules([server], license, { self_service: 'key' });
      await reset(license);
      expect(await validate(license, 'one')).toMatchObject({ code: 'DEVICE_RELEASED' });
    });
  });

  test("of another license, another developer's, or none is not found", async () => {
    const [license, other] = [await boundTo(1, 'one'), await boundTo(1, 'two')];
    const [own] = (await list(license)).devices;
    const stranger = await createWorld(server);
    for (const [client, path, code] of [
      [world.client, `${pathOf(other)}/${own?.id}`, 'DEVICE_NOT_FOUND'],
      [world.client, `${pathOf(license)}/garbage`, 'DEVICE_NOT_FOUND'],
      [stranger.client, `${pathOf(license)}/${own?.id}`, 'LICENSE_NOT_FOUND'],
    ] as const) {
      expectFailure(await client.delete(path), 404, code);
      expectFailure(await client.patch(path, { name: 'Mine' }), 404, code);
    }
    expect((await list(license)).devices).toEqual([own]);
  });

  test('that an offline lease has bound has no HWID, and keeps its place when it comes', async () => {
    const license = await boundTo(2, 'one');
    const lease = await world.client.post(`/api/v1/licenses/${license.id}/offline-lease`, {
      deviceRequest: deviceRequestOf(application.id, 'two'),
    });
    expect(lease.status, JSON.stringify(lease.body)).toBe(201);
    const [bound] = (await list(license)).devices;
    expect(bound).toMatchObject({ hwid: null, state: 'active', lastIp: null });
    expect(await validate(license, 'two')).toMatchObject({ code: 'OK' });
    expect((await list(license)).devices).toMatchObject([{ id: bound?.id, hwid: 'two' }, { hwid: 'one' }]);
    expect(await contradictions(server, license.id)).toEqual([]);
  });
});

describe('a use of a device', () => {
  const minute = (date: Date) => Math.floor(date.getTime() / 60_000);

  test('is noted to the minute, with its address, by validation in both versions and by login', async () => {
    const license = await boundTo(2, 'one');
    const seen = async () => {
      await flush();
      const [device] = await storedDevices(server, license.id);
      return { ip: device?.lastIp, minute: device && minute(device.lastSeenAt) };
    };
    const now = () => Math.floor(server.clock.now() / 60_000);
    server.clock.step(120);
    await validate(license, 'one', '198.51.100.7');
    expect(await seen()).toEqual({ ip: '198.51.100.7', minute: now() });
    server.clock.step(120);
    const call = createCallClient(server, application, '198.51.100.8');
    await call.ask('validate', { licenseKey: license.licenseKey, hwid: 'one' });
    expect(await seen()).toEqual({ ip: '198.51.100.8', minute: now() });
    server.clock.step(120);
    const user = { username: `grace.${license.id.slice(-6)}`, password: 'a user password' };
    await world.client.post(`/api/v1/apps/${application.id}/users`, {
      ...user,
      licenseKey: license.licenseKey,
    });
    const client = new ApiClient(server.baseUrl, { ip: '198.51.100.9' });
    expect(await ask(server, application, 'login', { ...user, hwid: 'one' }, { client })).toMatchObject({
      code: 'OK',
    });
    expect(await seen()).toEqual({ ip: '198.51.100.9', minute: now() });
    // A refused use is none.
    await world.client.post(`/api/v1/licenses/${license.id}/ban`);
    server.clock.step(120);
    expect(await validate(license, 'one', '198.51.100.10')).toMatchObject({ code: 'BANNED' });
    expect((await seen()).ip).toBe('198.51.100.9');
  });

  test('never sets its time back, and does not change a released device', async () => {
    const license = await boundTo(2, 'one', 'two');
    await flush();
    const [one, two] = await storedDevices(server, license.id);
    if (one === undefined || two === undefined) throw new Error('There are no devices');
    await world.client.delete(`${pathOf(license)}/${two.id}`);
    const use = { licenseId: license.id, ip: '198.51.100.7', country: 'SE' };
    const { securityLog } = server.deps.services;
    securityLog.deviceSeen(one.id, { ...use, at: new Date(one.lastSeenAt.getTime() - 60_000) });
    securityLog.deviceSeen(two.id, { ...use, at: new Date(two.lastSeenAt.getTime() + 60_000) });
    await flush();
    const after = await storedDevices(server, license.id);
    expect(after).toEqual([one, { ...two, releasedBy: 'vendor' }]);
    securityLog.deviceSeen(one.id, { ...use, at: new Date(one.lastSeenAt.getTime() + 60_000) });
    await flush();
    expect((await storedDevices(server, license.id))[0]).toMatchObject({
      lastIp: '198.51.100.7',
      country: 'SE',
    });
  });
});

describe('a limit', () => {
  test('that is lowered evicts nobody, and shows it', async () => {
    const license = await boundTo(3, 'one', 'two', 'three');
    await setDeviceRules([server], license, { device_limit: 1 });
    for (const hwid of ['one', 'two', 'three'])
      expect(await validate(license, hwid)).toMatchObject({ code: 'OK' });
    expect(await validate(license, 'four')).toMatchObject({ code: 'HWID_MISMATCH' });
    const licenses = await world.client.get(`/api/v1/apps/${application.id}/licenses`);
    expect(licenses.body).toMatchObject({
      licenses: [{ hwid: 'one', deviceLimit: 1, deviceCount: 3, overLimit: true }],
    });
  });

  test('is kept for a device that was used within the time, to the second', async () => {
    const license = await boundTo(2, 'one', 'two');
    await setDeviceRules([server], license, { release_idle_after_seconds: 3_600 });
    server.clock.step(3_600 + 120);
    // Its use is still in memory.
    expect(await validate(license, 'one')).toMatchObject({ code: 'OK' });
    expect(await validate(license, 'three')).toMatchObject({ code: 'OK' });
    expect(await validate(license, 'four')).toMatchObject({ code: 'DEVICE_LIMIT' });
    const devices = await storedDevices(server, license.id);
    expect(devices.map(({ hwid, releasedBy }) => [hwid, releasedBy])).toEqual([
      ['one', null],
      ['two', 'idle'],
      ['three', null],
    ]);
    expect(await contradictions(server, license.id)).toEqual([]);
  });

  test('does not matter to a banned device, which gets no place', async () => {
    const license = await boundTo(3, 'one');
    await insertBan(server, application.id, 'hwid', 'one');
    await insertBan(server, application.id, 'hwid', 'two');
    for (const hwid of ['one', 'two'])
      expect(await validate(license, hwid)).toMatchObject({ code: 'HWID_BANNED' });
    expect((await list(license)).devices).toHaveLength(1);
  });
});

describe('a ban with its devices', () => {
  const bans = async () =>
    (
      await sql<{ value: string }>(
        server,
        'SELECT value FROM bans WHERE application_id = $1 ORDER BY value',
        [application.id],
      )
    ).map(({ value }) => value);

  test('bans all active devices whose HWID is known, and says so in the log', async () => {
    const license = await boundTo(4, 'one', 'two', 'three');
    const [, two] = (await list(license)).devices;
    await world.client.delete(`${pathOf(license)}/${two?.id}`);
    await world.client.post(`/api/v1/licenses/${license.id}/offline-lease`, {
      deviceRequest: deviceRequestOf(application.id, 'four'),
    });
    const answer = await world.client.post(`/api/v1/licenses/${license.id}/ban`, { scope: 'hwid' });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(await bans()).toEqual(['one', 'three']);
    expect(await lastEntry()).toEqual({
      event: 'license_banned',
      hwid: 'one',
      metadata: { scope: 'hwid', hwid: 'one', devices: 2 },
    });
    const other = await boundTo(1);
    for (const hwid of ['one', 'three'])
      expect(await validate(other, hwid)).toMatchObject({ code: 'HWID_BANNED' });
    expect(await validate(other, 'two')).toMatchObject({ code: 'OK' });
  });

  test('is possible with a thousand devices', async () => {
    const license = await boundTo(1_000, 'one');
    await sql(
      server,
      `WITH bound AS (
         INSERT INTO devices (id, license_id, hwid, first_seen_at, last_seen_at)
         SELECT device_id_at(clock_timestamp()), $1, 'device ' || n, now(), now() FROM generate_series(2, 1000) AS n
       ) UPDATE licenses SET device_count = 1000 WHERE id = $1`,
      [license.id],
    );
    const body = { scope: 'hwid_and_ip', ip: '198.51.100.7' };
    const answer = await world.client.post(`/api/v1/licenses/${license.id}/ban`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(await bans()).toHaveLength(1_001);
  });
});

test('a search by a complete HWID finds the license of any active device', async () => {
  const license = await boundTo(3, 'one-d41d8cd9', 'two-98f00b20', 'three-4e980099');
  await boundTo(1, 'another-ecf8427e');
  const found = async (q: string) => {
    const answer = await world.client.get(`/api/v1/apps/${application.id}/licenses?q=${q}`);
    return z.object({ licenses: z.array(z.object({ id: z.string() })) }).parse(answer.body).licenses;
  };
  expect(await found('three-4e980099')).toMatchObject([{ id: license.id }]);
  expect(await found('three-4e98')).toEqual([]);
  const [three] = (await list(license)).devices;
  await world.client.delete(`${pathOf(license)}/${three?.id}`);
  expect(await found('three-4e980099')).toEqual([]);
  expect(await found('two-98f00b20')).toMatchObject([{ id: license.id }]);
});

describe('exports', () => {
  test('of end users and of the account have all devices of a license', async () => {
    const license = await boundTo(30, ...Array.from({ length: 12 }, (_, index) => `device ${index}`));
    const user = { username: `grace.${license.id.slice(-6)}`, password: 'a user password' };
    await world.client.post(`/api/v1/apps/${application.id}/users`, {
      ...user,
      licenseKey: license.licenseKey,
    });
    await flush();
    const { devices } = await list(license);
    const ofUsers = await world.client.get(`/api/v1/apps/${application.id}/users/export`);
    expect(ofUsers.body).toMatchObject({ export: { users: [{ license: { id: license.id, devices } }] } });
    const ofAccount = await world.client.get('/api/v1/account/export');
    const licenses = z
      .object({ export: z.object({ licenses: z.array(z.looseObject({ id: z.string() })) }) })
      .parse(ofAccount.body).export.licenses;
    expect(licenses.find(({ id }) => id === license.id)).toMatchObject({ devices });
    expect(devices).toHaveLength(12);
    const byGraphql = await world.client.post('/graphql', {
      query: 'query ($applicationId: ID!) { endUserExport(applicationId: $applicationId) }',
      variables: { applicationId: application.id },
    });
    expect(byGraphql.body).toMatchObject({
      data: { endUserExport: { users: [{ license: { id: license.id, devices } }] } },
    });
  });
});

describe('devices are deleted with', () => {
  const devices = async (license: SeededLicense) => (await storedDevices(server, license.id)).length;

  test('their license', async () => {
    const license = await boundTo(2, 'one', 'two');
    await world.client.delete(`/api/v1/licenses/${license.id}`);
    expect(await devices(license)).toBe(0);
  });

  test('their application, and their account', async () => {
    const license = await boundTo(2, 'one', 'two');
    await world.client.delete(`/api/v1/apps/${application.id}`);
    await expect.poll(() => devices(license)).toBe(0);

    const leaving = await createWorld(server);
    const theirs = await leaving.createApplication();
    const lost = await theirs.mintOne();
    await (await openSession(server, theirs)).ask(validatePath, { licenseKey: lost.licenseKey, hwid: 'one' });
    expect(await devices(lost)).toBe(1);
    const { password } = leaving.developer;
    const answer = await leaving.client.post('/api/v1/account/delete', { password, confirm: 'DELETE' });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    await expect.poll(() => devices(lost)).toBe(0);
  });
});
