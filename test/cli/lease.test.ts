import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { deviceHash } from '../../src/protocol/v2/device-hash.ts';
import { readDeviceRequest } from '../../src/protocol/v2/device-request.ts';
import { readLease } from '../../src/protocol/v2/lease.ts';
import { createCallClient } from '../setup/call-client.ts';
import { serverUrl } from '../setup/database.ts';
import { deviceRequestOf } from '../setup/device-request.ts';
import { startTestServer } from '../setup/server.ts';
import { sql, storedLog } from '../setup/stored.ts';
import { forTest, useWorld } from '../setup/use-world.ts';
import { createWorld, type SeededApplication } from '../setup/world.ts';
import { freshDirectory } from './places.ts';
import { runCommand } from './run-command.ts';

const hwid = 'a device without a network';

/** The claims of a printed lease that answers a request. */
function accepted(text: string, application: SeededApplication, request: string) {
  const { nonce } = readDeviceRequest(request) ?? expect.fail('malformed');
  const result = readLease(text.trim(), {
    appId: application.id,
    publicKey: new Uint8Array(Buffer.from(application.publicKeyB64, 'base64')),
    device: deviceHash(application.id, hwid),
    time: Math.floor(Date.now() / 1000),
    nonce,
  });
  return result.ok ? result.claims : expect.fail(`refused: ${result.failed}`);
}

describe.skipIf(serverUrl === null)('while a service runs on a PostgreSQL server', () => {
  const { server, world } = useWorld({ database: 'server' });
  const application = forTest(() => world.createApplication());
  let env: Readonly<Record<string, string>>;
  beforeAll(() => {
    env = { ...server.databaseEnv };
  });
  const requestOf = (device = hwid) => deviceRequestOf(application.id, device);
  const lease = (...words: string[]) => runCommand(['lease', ...words], env);

  test('a lease is printed and logged, and the running service knows that the license is bound', async () => {
    const { id, licenseKey } = await application.mintOne({ subscriptionTier: 4 });
    const client = createCallClient(server, application);
    // The service has cached that the key exists and is unused.
    const request = requestOf();
    const run = await lease(id, request, '--days', '3');
    expect(run).toMatchObject({ code: 0 });
    const claims = accepted(run.stdout, application, request);
    expect(claims).toMatchObject({ sub: id, tier: 4, exp: claims.iat + 3 * 86_400 });
    expect(run.stderr).toContain(new Date(claims.exp * 1000).toISOString());
    expect(await storedLog(server, application.id, 'lease_issued')).toEqual([
      expect.objectContaining({ licenseId: id, ip: null }),
    ]);
    const codeOf = async (device: string) =>
      (await client.ask('validate', { licenseKey, hwid: device })).code;
    await expect.poll(() => codeOf('another device')).toBe('HWID_MISMATCH');
    expect(await codeOf(hwid)).toBe('OK');
  });

  test('a license is found by the beginning of its key, and named by its id if several begin alike', async () => {
    const license = await application.mintOne();
    const run = await lease(license.keyPrefix, requestOf());
    expect(run).toMatchObject({ code: 0 });
    expect(run.stderr).toContain(license.id);
    const alike = await application.mint({ amount: 2 });
    const ids = alike.map(({ id }) => id);
    await sql(server, `UPDATE licenses SET key_prefix = 'SAME-' WHERE id = ANY($1)`, [ids]);
    const ambiguous = await lease('SAME-', requestOf('another'));
    expect(ambiguous).toMatchObject({ code: 1, stdout: '' });
    for (const { id } of alike) expect(ambiguous.stderr).toContain(id);
  });

  test('a lease is written to a new file, and shown as a QR code', async () => {
    const { id } = await application.mintOne();
    const file = join(await freshDirectory(), 'a.lease');
    const request = requestOf();
    const run = await lease(id, request, '--out', file, '--qr');
    expect(run).toMatchObject({ code: 0 });
    accepted(await readFile(file, 'utf8'), application, request);
    expect(run.stdout).toMatch(/^[█▀▄ \n]+$/);
    const again = await lease(id, request, '--out', file);
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toContain('exists');
    expect(await storedLog(server, application.id, 'lease_issued')).toHaveLength(1);
  });

  test('the refusals are those of the dashboard', async () => {
    const { id } = await application.mintOne();
    await world.client.post(`/api/v1/licenses/${id}/ban`);
    const foreign = await (await (await createWorld(server)).createApplication()).mintOne();
    const unknownApplication = deviceRequestOf('0198c3a0-0000-7000-8000-000000000000', hwid);
    const cases = [
      ['BANNED', id, requestOf()],
      ['APP_MISMATCH', foreign.id, requestOf()],
      ['LICENSE_NOT_FOUND', foreign.keyPrefix, requestOf()],
      ['APP_NOT_FOUND', id, unknownApplication],
    ] as const;
    for (const [code, license, request] of cases) {
      const run = await lease(license, request);
      expect(run, code).toMatchObject({ code: 1, stdout: '' });
      expect(run.stderr).toContain(code);
    }
  });

  test('a malformed request or term is a usage error', async () => {
    const { id } = await application.mintOne();
    for (const words of [[id], [id, 'LKQ2.short'], [id, requestOf(), '--days', '31']]) {
      expect(await lease(...words)).toMatchObject({ code: 2, stdout: '' });
    }
  });
});

test('works on an embedded database while its service is stopped', async () => {
  const directory = await freshDirectory();
  const env = { DATA_DIR: directory };
  const before = await startTestServer({ database: 'memory', env });
  const application = await (await createWorld(before)).createApplication();
  const { id, licenseKey } = await application.mintOne();
  const request = deviceRequestOf(application.id, hwid);
  const during = await runCommand(['lease', id, request], env);
  expect(during).toMatchObject({ code: 1, stdout: '' });
  expect(during.stderr).toMatch(/Stop the service, issue the lease/);
  await before.close();

  const run = await runCommand(['lease', id, request], env);
  expect(run).toMatchObject({ code: 0 });
  accepted(run.stdout, application, request);
  const after = await startTestServer({ database: 'memory', env });
  onTestFinished(() => after.close());
  const answer = await createCallClient(after, application).ask('validate', { licenseKey, hwid: 'another' });
  expect(answer).toMatchObject({ code: 'HWID_MISMATCH' });
}, 120_000);
