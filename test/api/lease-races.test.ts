import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { deviceHash } from '../../src/protocol/v2/device-hash.ts';
import { readLease } from '../../src/protocol/v2/lease.ts';
import { readRevocations, revokes } from '../../src/protocol/v2/revocations.ts';
import { createCallClient } from '../setup/call-client.ts';
import { setDeviceRules } from '../setup/devices.ts';
import { startTestServer } from '../setup/server.ts';
import { forTest, useWorld } from '../setup/use-world.ts';
import { noLimits } from './support.ts';

// A lease and what ends its license meet half way. The embedded database has one connection, so they never do there.
describe.skipIf(process.env.TEST_DATABASE_KIND !== 'server')('on a PostgreSQL server', () => {
  const { server, world } = useWorld({ env: noLimits });
  const application = forTest(async () => {
    const made = await world.createApplication();
    await made.settings({ leasesEnabled: true });
    return made;
  });
  const hwid = 'device-1';

  /** Holds a lock in a transaction of its own. */
  async function hold(statement: string, values: readonly unknown[] = []) {
    const { database } = server.deps.config;
    if (database.kind !== 'server') throw new Error('only a server holds a lock for one of many');
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query('BEGIN');
    await client.query(statement, [...values]);
    const waiting = async () => {
      await client.query('SELECT pg_stat_clear_snapshot()');
      const { rows } = await client.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows[0]?.count ?? 0;
    };
    return {
      /** Waits until this many statements wait for a lock, or the work is done. */
      until: async (count: number, work: Promise<unknown> = new Promise(() => undefined)) => {
        let isDone = false;
        void work.finally(() => {
          isDone = true;
        });
        while (!isDone && (await waiting()) < count) await pause(5);
      },
      release: async () => {
        await client.query('ROLLBACK');
        await client.end();
      },
    };
  }

  async function isRevoked(lease: unknown): Promise<boolean> {
    const publicKey = new Uint8Array(Buffer.from(application.publicKeyB64, 'base64'));
    const [appId, time] = [application.id, Math.floor(server.clock.now() / 1000)];
    const device = deviceHash(appId, hwid);
    const read = readLease(String(lease), { appId, publicKey, device, time });
    const response = await fetch(`${server.baseUrl}/api/v2/revocations/${appId}`);
    const list = readRevocations(await response.text(), { appId, publicKey, time });
    if (!read.ok || !list.ok) return expect.fail('malformed');
    return revokes(list.claims, read.claims);
  }

  const lease = (licenseKey: string) =>
    createCallClient(server, application).ask('lease', { licenseKey, hwid });

  test.each([
    ['ban', (id: string) => world.client.post(`/api/v1/licenses/${id}/ban`)],
    ['deletion', (id: string) => world.client.delete(`/api/v1/licenses/${id}`)],
    ['reset', (id: string) => world.client.post(`/api/v1/licenses/${id}/reset-hwid`)],
  ])('the first lease of a license, which is under way, is revoked by its %s', async (_what, end) => {
    const { id, licenseKey } = await application.mintOne();
    await createCallClient(server, application).ask('validate', { licenseKey, hwid });
    const key = Buffer.from(deviceHash(application.id, hwid), 'base64url').readInt32BE(0);
    const held = await hold('SELECT pg_advisory_xact_lock(72707376, $1)', [key]);
    const leasing = lease(licenseKey);
    await held.until(1);
    const ending = end(id);
    await held.until(2, ending);
    await held.release();
    const [answer, ended] = await Promise.all([leasing, ending]);
    expect(answer).toMatchObject({ code: 'OK' });
    expect(ended.status).toBe(200);
    expect(await isRevoked(answer.lease)).toBe(true);
  });

  test.each([
    ['its device', [hwid]],
    ['its device, as one of several', ['another device', hwid]],
  ])("another license's lease, which is under way, is revoked by the ban of %s", async (_what, hwids) => {
    const [banned, leased] = await application.mint({ amount: 2 });
    if (banned === undefined || leased === undefined) return expect.fail();
    await setDeviceRules([server], banned, { device_limit: 2 });
    for (const [{ licenseKey }, devices] of [
      [banned, hwids],
      [leased, [hwid]],
    ] as const) {
      for (const each of devices) {
        await createCallClient(server, application).ask('validate', { licenseKey, hwid: each });
      }
    }
    // The lease waits for this row after it has looked for bans.
    const held = await hold(
      `INSERT INTO leases
         (application_id, license_id, device_hash, seq, rev, jti, issued_at, expires_at, logged_at)
       VALUES ($1, $2, $3, 1, 0, $2, now(), now(), now())`,
      [application.id, leased.id, deviceHash(application.id, hwid)],
    );
    const leasing = lease(leased.licenseKey);
    await held.until(1);
    const banning = world.client.post(`/api/v1/licenses/${banned.id}/ban`, { scope: 'hwid' });
    await held.until(2, banning);
    await held.release();
    const [answer, ended] = await Promise.all([leasing, banning]);
    expect(answer).toMatchObject({ code: 'OK' });
    expect(ended.status).toBe(200);
    expect(await isRevoked(answer.lease)).toBe(true);
  });

  test('a validation does not fail for want of a lease', async () => {
    const { licenseKey } = await application.mintOne();
    await createCallClient(server, application).ask('validate', { licenseKey, hwid });
    const held = await hold('LOCK TABLE leases IN ACCESS EXCLUSIVE MODE');
    const answer = await createCallClient(server, application).ask('validate', {
      licenseKey,
      hwid,
      lease: true,
    });
    const call = await lease(licenseKey);
    await held.release();
    expect(answer).toMatchObject({ success: true, code: 'OK' });
    expect(answer).not.toHaveProperty('lease');
    expect(call).toMatchObject({ success: false, code: 'UNAVAILABLE' });
  });

  test('two instances serve the same list, and a ban on one changes that of the other', async () => {
    const other = await startTestServer({ beside: server, env: noLimits });
    onTestFinished(() => other.close());
    const list = async (of: { readonly baseUrl: string }) => {
      const response = await fetch(`${of.baseUrl}/api/v2/revocations/${application.id}`);
      expect(response.status).toBe(200);
      return { text: await response.text(), etag: response.headers.get('etag') };
    };
    const { id, licenseKey } = await application.mintOne();
    await lease(licenseKey);
    const before = await list(server);
    expect(await list(other)).toEqual(before);
    expect((await world.client.post(`/api/v1/licenses/${id}/ban`)).status).toBe(200);
    const after = await list(server);
    expect(after).not.toEqual(before);
    await expect.poll(() => list(other)).toEqual(after);
  });

  test('a lease is not issued by a key that is replaced while it waits for the license', async () => {
    const { id, licenseKey } = await application.mintOne();
    const client = createCallClient(server, application);
    expect(await client.ask('validate', { licenseKey, hwid })).toMatchObject({ code: 'OK' });
    const held = await hold('SELECT FROM licenses WHERE id = $1 FOR UPDATE', [id]);
    const rotated = world.client.post(`/api/v1/licenses/${id}/rotate-key`, { overlapSeconds: 0 });
    await held.until(1, rotated);
    // It is judged by what is cached, and waits behind the rotation.
    const leased = client.ask('lease', { licenseKey, hwid });
    await held.until(2, leased);
    await held.release();
    expect((await rotated).status).toBe(200);
    expect(await leased).toMatchObject({ success: false, code: 'LICENSE_NOT_FOUND' });
  });

  test('a use that waits for a rotation with an overlap finds its license', async () => {
    const { id, licenseKey } = await application.mintOne();
    const client = createCallClient(server, application);
    const held = await hold('SELECT FROM licenses WHERE id = $1 FOR UPDATE', [id]);
    const rotated = world.client.post(`/api/v1/licenses/${id}/rotate-key`, { overlapSeconds: 600 });
    await held.until(1, rotated);
    const password = 'a long password';
    const registered = client.ask('register', { username: 'ada', password, licenseKey, hwid });
    await held.until(2, registered);
    await held.release();
    expect((await rotated).status).toBe(200);
    expect(await registered).toMatchObject({ code: 'OK' });
  });
});
