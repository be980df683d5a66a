import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { storedLicense, storedLog } from '../setup/stored.ts';
import { createWorld, type SeededApplication, type World } from '../setup/world.ts';
import { bansAnswer, doneAnswer, expectFailure, expectSuccess, missingId, noLimits } from './support.ts';

let server: TestServer;
let world: World;
let application: SeededApplication;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
  world = await createWorld(server);
});
afterAll(() => server.close());
beforeEach(async () => {
  application = await world.createApplication();
});

const bansPath = () => `/api/v1/apps/${application.id}/bans`;
const bans = async () => expectSuccess(await world.client.get(bansPath()), 200, bansAnswer).bans;
const remove = (banId: string) => world.client.delete(`${bansPath()}/${banId}`);

/** A used license, banned together with its device and address. */
async function banned() {
  const license = await application.mintOne();
  const session = await openSession(server, application);
  expect(await session.ask(validatePath, { licenseKey: license.licenseKey, hwid: 'device' })).toMatchObject({
    code: 'OK',
  });
  const answer = await world.client.post(`/api/v1/licenses/${license.id}/ban`, { scope: 'hwid_and_ip' });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return { license, session, ip: session.client.ip };
}

test('the list has every ban with its cause, newest first', async () => {
  expect(await bans()).toEqual([]);
  const { license, ip } = await banned();
  const listed = await bans();
  expect(listed.map(({ banType, value, sourceLicenseId }) => ({ banType, value, sourceLicenseId }))).toEqual([
    { banType: 'ip', value: ip, sourceLicenseId: license.id },
    { banType: 'hwid', value: 'device', sourceLicenseId: license.id },
  ]);
});

test('the list has only bans of this application', async () => {
  await banned();
  application = await world.createApplication();
  expect(await bans()).toEqual([]);
});

test('removing a ban admits the device and the address again; the license stays banned', async () => {
  const { license, session } = await banned();
  const other = await application.mintOne();
  const ask = async (licenseKey: string) =>
    (await session.ask(validatePath, { licenseKey, hwid: 'device' })).code;
  expect(await ask(other.licenseKey)).toBe('IP_BANNED');
  const [ipBan, hwidBan] = await bans();
  expectSuccess(await remove(ipBan?.id ?? ''), 200, doneAnswer);
  expect(await ask(other.licenseKey)).toBe('HWID_BANNED');
  expectSuccess(await remove(hwidBan?.id ?? ''), 200, doneAnswer);
  expect(await ask(other.licenseKey)).toBe('OK');
  expect(await ask(license.licenseKey)).toBe('BANNED');
  expect(await storedLicense(server, license.id)).toMatchObject({ status: 'banned', hwid: 'device' });
  expect(await bans()).toEqual([]);
});

test('removing a ban is logged', async () => {
  const { license, ip } = await banned();
  const [ipBan] = await bans();
  await remove(ipBan?.id ?? '');
  expect(await storedLog(server, application.id, 'ban_removed')).toMatchObject([
    { licenseId: license.id, ip: world.client.ip, metadata: { banType: 'ip', value: ip } },
  ]);
});

test('a ban can be removed only once', async () => {
  await banned();
  const [ban] = await bans();
  expectSuccess(await remove(ban?.id ?? ''), 200, doneAnswer);
  expectFailure(await remove(ban?.id ?? ''), 404, 'BAN_NOT_FOUND');
  expect(await storedLog(server, application.id, 'ban_removed')).toHaveLength(1);
});

test.each([missingId, '1', 'all', '%00'])('the ban %s does not exist', async (banId) => {
  expectFailure(await remove(banId), 404, 'BAN_NOT_FOUND');
});

test('a ban cannot be removed through another application of the same developer', async () => {
  await banned();
  const [ban] = await bans();
  const other = await world.createApplication();
  expectFailure(await world.client.delete(`/api/v1/apps/${other.id}/bans/${ban?.id}`), 404, 'BAN_NOT_FOUND');
  expect(await bans()).toHaveLength(2);
});

test('bans of another developer get the same response as missing ones', async () => {
  await banned();
  const [ban] = await bans();
  const { client } = await createWorld(server);
  const paths: [string, string][] = [
    [bansPath(), `/api/v1/apps/${missingId}/bans`],
    [`${bansPath()}/${ban?.id}`, `/api/v1/apps/${missingId}/bans/${missingId}`],
  ];
  for (const [foreignPath, missingPath] of paths) {
    const method = foreignPath === bansPath() ? 'GET' : 'DELETE';
    const foreign = await client.send(method, foreignPath);
    expectFailure(foreign, 404, 'APP_NOT_FOUND');
    expect(foreign.body).toEqual((await client.send(method, missingPath)).body);
  }
  expect(await bans()).toHaveLength(2);
});
