import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiClient } from '../setup/api-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld, type SeededApplication, type World } from '../setup/world.ts';
import { expectFailure, expectIssue, expectSuccess, licenseAnswer } from './support.ts';

let server: TestServer;
let world: World;
let application: SeededApplication;
beforeAll(async () => {
  server = await startTestServer();
  world = await createWorld(server);
});
afterAll(() => server.close());

const prisma = () => server.deps.services.database.prisma;
const ban = (id: string, body?: unknown, client = world.client) =>
  client.post(`/api/v1/licenses/${id}/ban`, body);
const banned = async (id: string, body?: unknown) =>
  expectSuccess(await ban(id, body), 200, licenseAnswer).license;

/** A license that a device has validated from an address. */
async function usedLicense(hwid: string | undefined, client = new ApiClient(server.baseUrl)) {
  const license = await application.mintOne();
  const session = await openSession(server, application, { client });
  // Twice: the first use changes the license, and the second one caches it.
  for (const _use of ['first', 'second']) {
    const answer = await session.ask(validatePath, { licenseKey: license.licenseKey, hwid });
    expect(answer).toMatchObject({ code: 'OK' });
  }
  return { ...license, session, ip: client.ip };
}

const bansOf = async () => {
  const rows = await prisma().ban.findMany({
    where: { applicationId: application.id },
    orderBy: { id: 'asc' },
  });
  return rows.map(({ banType, value, sourceLicenseId }) => ({ banType, value, sourceLicenseId }));
};
const statusOf = async (id: string) => (await prisma().license.findUniqueOrThrow({ where: { id } })).status;

/** Each test has its own application. */
async function freshApplication() {
  application = await world.createApplication();
}
beforeAll(freshApplication);

describe('banning a license', () => {
  test.each([
    ['without a body', undefined],
    ['with an empty object', {}],
    ['with scope license', { scope: 'license' }],
    ['with scope license and an address it does not need', { scope: 'license', ip: '203.0.113.1' }],
  ])('%s bans only the license', async (_what, body) => {
    await freshApplication();
    const { id, licenseKey, session } = await usedLicense('device');
    const license = await banned(id, body);
    expect(license).toMatchObject({ id, status: 'banned', hwid: 'device' });
    expect(await statusOf(id)).toBe('banned');
    expect(await bansOf()).toEqual([]);
    const answer = await session.ask(validatePath, { licenseKey, hwid: 'device' });
    expect(answer, 'at once, although it was cached').toMatchObject({ success: false, code: 'BANNED' });
  });

  test('works for an unused license', async () => {
    await freshApplication();
    const { id } = await application.mintOne();
    expect(await banned(id)).toMatchObject({ status: 'banned', activatedAt: null });
  });

  test('a second time changes nothing', async () => {
    await freshApplication();
    const { id } = await usedLicense('device');
    // The address of its use is written asynchronously.
    await server.deps.services.securityLog.flush();
    const first = await banned(id);
    expect(await banned(id)).toEqual({ ...first, updatedAt: expect.any(String) });
  });

  test('with scope hwid bans its device too', async () => {
    await freshApplication();
    const { id, licenseKey, session } = await usedLicense('Device-1');
    const other = await application.mintOne();
    expect(await session.ask(validatePath, { licenseKey: 'unknown', hwid: 'Device-1' })).toMatchObject({
      code: 'LICENSE_NOT_FOUND',
    });
    await banned(id, { scope: 'hwid' });
    expect(await bansOf()).toEqual([{ banType: 'hwid', value: 'Device-1', sourceLicenseId: id }]);
    const ask = (members: Record<string, unknown>) => session.ask(validatePath, members);
    expect(await ask({ licenseKey: other.licenseKey, hwid: 'Device-1' })).toMatchObject({
      code: 'HWID_BANNED',
    });
    expect(await ask({ licenseKey: other.licenseKey, hwid: 'device-1' })).toMatchObject({ code: 'OK' });
    expect(await ask({ licenseKey })).toMatchObject({ code: 'BANNED' });
  });

  test('with scope hwid requires a device, and changes nothing without one', async () => {
    await freshApplication();
    const { id } = await usedLicense(undefined);
    expectFailure(await ban(id, { scope: 'hwid' }), 400, 'HWID_NOT_SET');
    expect(await statusOf(id)).toBe('active');
    expect(await bansOf()).toEqual([]);
  });

  test('with scope hwid_and_ip bans the address it was last seen at', async () => {
    await freshApplication();
    const { id, ip, session, licenseKey } = await usedLicense('device');
    await banned(id, { scope: 'hwid_and_ip' });
    expect(await bansOf()).toEqual([
      { banType: 'hwid', value: 'device', sourceLicenseId: id },
      { banType: 'ip', value: ip, sourceLicenseId: id },
    ]);
    expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'IP_BANNED' });
  });

  test('with scope hwid_and_ip and an address bans that address instead', async () => {
    await freshApplication();
    const { id, ip, session, licenseKey } = await usedLicense('device');
    await banned(id, { scope: 'hwid_and_ip', ip: '203.0.113.5' });
    expect((await bansOf()).map(({ value }) => value)).toEqual(['device', '203.0.113.5']);
    expect(ip).not.toBe('203.0.113.5');
    expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'BANNED' });
  });

  test('with scope hwid_and_ip bans only the address if no device is bound', async () => {
    await freshApplication();
    const { id } = await application.mintOne();
    await banned(id, { scope: 'hwid_and_ip', ip: '203.0.113.6' });
    expect(await bansOf()).toEqual([{ banType: 'ip', value: '203.0.113.6', sourceLicenseId: id }]);
  });

  test('with scope hwid_and_ip requires an address, and changes nothing without one', async () => {
    await freshApplication();
    const { id } = await application.mintOne();
    expectFailure(await ban(id, { scope: 'hwid_and_ip' }), 400, 'IP_NOT_KNOWN');
    expect(await statusOf(id)).toBe('unused');
    expect(await bansOf()).toEqual([]);
  });

  test.each([
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:0db8:0000:0000:0001:0000:0000:0001', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:CB00:7107', '203.0.113.7'],
    ['203.0.113.7', '203.0.113.7'],
    ['::1', '::1'],
  ])('bans %s as %s', async (ip, value) => {
    await freshApplication();
    const { id } = await application.mintOne();
    await banned(id, { scope: 'hwid_and_ip', ip });
    expect((await bansOf()).map((row) => row.value)).toEqual([value]);
  });

  test('applies to a client whose address has another notation', async () => {
    await freshApplication();
    const { id } = await application.mintOne();
    await banned(id, { scope: 'hwid_and_ip', ip: '2001:DB8:0:0:5::0001' });
    const client = new ApiClient(server.baseUrl, { ip: '2001:db8::5:0:0:1' });
    const answer = await client.post('/api/v1/session/init', {
      appId: application.id,
      clientNonceB64: Buffer.alloc(32, 7).toString('base64'),
      clientVersion: application.version,
    });
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({ success: false, code: 'IP_BANNED' });
  });

  test.each([
    '',
    '1',
    '256.1.1.1',
    '203.0.113',
    '0x7f.1',
    '010.0.0.1',
    '203.0.113.1/32',
    '203.0.113.1 ',
    '2001:db8::/32',
    '[2001:db8::1]',
    ':::',
    '1::2::3',
    'localhost',
    '203.0.113.1:80',
    '\0',
    'x'.repeat(500),
    null,
    1,
    {},
    ['203.0.113.1'],
  ])('refuses %j as an address', async (ip) => {
    const { id } = await application.mintOne();
    expectIssue(await ban(id, { scope: 'hwid_and_ip', ip }), 'ip');
    expect(await statusOf(id)).toBe('unused');
  });

  test('a device or address that is already banned keeps its row and its first cause', async () => {
    await freshApplication();
    const client = new ApiClient(server.baseUrl);
    const first = await usedLicense('shared', client);
    const second = await usedLicense('shared', client);
    await banned(first.id, { scope: 'hwid' });
    await banned(second.id, { scope: 'hwid_and_ip' });
    await banned(second.id, { scope: 'hwid_and_ip' });
    expect(await bansOf()).toEqual([
      { banType: 'hwid', value: 'shared', sourceLicenseId: first.id },
      { banType: 'ip', value: client.ip, sourceLicenseId: second.id },
    ]);
  });

  test('bans of one application do not apply to another', async () => {
    await freshApplication();
    const { id } = await usedLicense('device');
    await banned(id, { scope: 'hwid' });
    await freshApplication();
    await usedLicense('device');
    expect(await bansOf()).toEqual([]);
  });

  test('is logged with its scope, device and address', async () => {
    await freshApplication();
    const { id, ip } = await usedLicense('device');
    await banned(id, { scope: 'hwid_and_ip' });
    const entries = await prisma().securityLogEntry.findMany({
      where: { licenseId: id, event: 'license_banned' },
    });
    expect(entries).toMatchObject([
      {
        developerId: world.developer.id,
        applicationId: application.id,
        ip: world.client.ip,
        hwid: 'device',
        metadata: { scope: 'hwid_and_ip', hwid: 'device', ip },
      },
    ]);
  });

  test('of another developer gets the same response as a missing one', async () => {
    await freshApplication();
    const { id } = await usedLicense('device');
    const stranger = await createWorld(server);
    for (const body of [undefined, { scope: 'hwid' }, { scope: 'hwid_and_ip', ip: '203.0.113.1' }]) {
      const foreign = await ban(id, body, stranger.client);
      const missing = await ban('0198c3a0-0000-7000-8000-000000000000', body, stranger.client);
      expectFailure(foreign, 404, 'LICENSE_NOT_FOUND');
      expect(missing.status).toBe(404);
      expect(foreign.body).toEqual(missing.body);
    }
    expect(await statusOf(id)).toBe('active');
    expect(await bansOf()).toEqual([]);
  });
});

test('a ban that declares JSON but has no body bans only the license', async () => {
  const world = await createWorld(server);
  const application = await world.createApplication();
  const license = await application.mintOne();
  const answer = await world.client.post(`/api/v1/licenses/${license.id}/ban`, '');
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({ success: true, license: { status: 'banned' } });
});
