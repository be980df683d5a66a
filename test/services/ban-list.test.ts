import { expect, test } from 'vitest';
import { maxListedBans } from '../../src/services/ban/ban-list.ts';
import { noLimits } from '../api/support.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { logStatements } from '../setup/statements.ts';
import { sql } from '../setup/stored.ts';
import { useServer } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';

const server = useServer({ env: noLimits });

async function bannedDevices(count: number) {
  const world = await createWorld(server);
  const application = await world.createApplication();
  await sql(
    server,
    `INSERT INTO bans (id, application_id, ban_type, value)
     SELECT gen_random_uuid(), $1, 'hwid', 'device ' || number FROM generate_series(1, $2::int) AS number`,
    [application.id, count],
  );
  await application.settings({ hwidLockEnabled: false });
  const { id, licenseKey } = await application.mintOne();
  const session = await openSession(server, application);
  const codeFor = async (hwid: string) => (await session.ask(validatePath, { licenseKey, hwid })).code;
  return { world, id, ip: session.client.ip, codeFor };
}

test.each([
  ['as many bans as are kept in a list', maxListedBans],
  ['more', maxListedBans + 1],
])('a device is refused that is banned, and no other, in an application with %s', async (_what, count) => {
  const { world, id, ip, codeFor } = await bannedDevices(count);
  for (const hwid of ['device 1', `device ${count}`]) {
    for (const _time of ['first', 'second']) expect(await codeFor(hwid)).toBe('HWID_BANNED');
  }
  for (const _time of ['first', 'second']) expect(await codeFor('another')).toBe('OK');
  const ban = await world.client.post(`/api/v1/licenses/${id}/ban`, { scope: 'hwid_and_ip', ip });
  expect(ban.status, JSON.stringify(ban.body)).toBe(200);
  expect(await codeFor('another')).toBe('IP_BANNED');
});

test('a device that was never seen is checked without a statement', async () => {
  const { codeFor } = await bannedDevices(3);
  await codeFor('known');
  await server.deps.services.securityLog.flush();
  const statements = logStatements(server.deps.services.database.pool);
  expect([await codeFor('new'), await codeFor('device 2')]).toEqual(['OK', 'HWID_BANNED']);
  expect(statements.take().filter((text) => /bans/.test(text))).toEqual([]);
});
