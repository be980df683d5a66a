import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readChanges } from '../../src/services/changes/read.ts';
import { noLimits } from '../api/support.ts';
import { hasRedisServer, OwnRedis } from '../ephemeral/support.ts';
import { serverUrl } from '../setup/database.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer } from '../setup/server.ts';
import { tally } from '../setup/tally.ts';
import { createWorld } from '../setup/world.ts';

const patient = { timeout: 40_000, interval: 50 };

/** Disconnects all clients from a database while it is copied or put back, as a restore does. */
async function apart(databaseUrl: string) {
  const admin = new pg.Client({ connectionString: serverUrl ?? '' });
  await admin.connect();
  onTestFinished(() => admin.end());
  const name = new URL(databaseUrl).pathname.slice(1);
  const backup = `${name}_yesterday`;
  onTestFinished(async () => void (await admin.query(`DROP DATABASE IF EXISTS ${backup} WITH (FORCE)`)));
  const alone = async (work: () => Promise<unknown>) => {
    await admin.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`);
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    await work();
  };
  return {
    backUp: () =>
      alone(async () => {
        await admin.query(`CREATE DATABASE ${backup} TEMPLATE ${name}`);
        await admin.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`);
      }),
    restore: () =>
      alone(async () => {
        await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
        await admin.query(`ALTER DATABASE ${backup} RENAME TO ${name}`);
      }),
  };
}

test.skipIf(serverUrl === null || !hasRedisServer)(
  "a database that is put back to yesterday beneath running instances: they forget what they had cached, and answer yesterday's",
  async () => {
    const redis = await OwnRedis.start();
    const env = { ...noLimits, REDIS_URL: redis.url };
    const server = await startTestServer({ database: 'server', env });
    onTestFinished(server.close);
    const world = await createWorld(server);
    const application = await world.createApplication();
    const [banned, kept] = await application.mint({ amount: 2 });
    const code = async (licenseKey: string | undefined, hwid?: string) => {
      const session = await openSession(server, application);
      return (await session.ask(validatePath, { licenseKey, ...(hwid !== undefined && { hwid }) })).code;
    };
    const settled = (licenseKey: string | undefined, expected: string, hwid?: string) =>
      vi.waitFor(async () => expect(await code(licenseKey, hwid)).toBe(expected), patient);
    await settled(banned?.licenseKey, 'OK');
    const { backUp, restore } = await apart(server.databaseEnv.DATABASE_URL ?? '');
    await backUp();

    // The next day: a ban, a sale and a new device, all cached.
    await vi.waitFor(
      async () =>
        expect((await world.client.post(`/api/v1/licenses/${banned?.id}/ban`, {})).status).toBe(200),
      patient,
    );
    const sold = await application.mintOne();
    for (const _ of ['first', 'cached']) {
      await settled(banned?.licenseKey, 'BANNED');
      await settled(sold.licenseKey, 'OK');
      await settled(kept?.licenseKey, 'OK', 'device of tomorrow');
    }
    expect(await code(kept?.licenseKey, 'another device')).toBe('HWID_MISMATCH');

    await restore();
    const restarted = await startTestServer({ beside: server, env });
    onTestFinished(restarted.close);
    await settled(banned?.licenseKey, 'OK');
    await settled(sold.licenseKey, 'LICENSE_NOT_FOUND');
    await settled(kept?.licenseKey, 'OK', 'device of yesterday');
    const again = await openSession(restarted, application);
    expect(await again.ask(validatePath, { licenseKey: sold.licenseKey })).toMatchObject({
      code: 'LICENSE_NOT_FOUND',
    });
    expect(await again.ask(validatePath, { licenseKey: kept?.licenseKey, hwid: 'other' })).toMatchObject({
      code: 'HWID_MISMATCH',
    });
    tally({ faults: 1 });
  },
  180_000,
);

test.skipIf(serverUrl === null)(
  'instances notice tables that a restore has emptied and refilled',
  async () => {
    const server = await startTestServer({ database: 'server' });
    onTestFinished(server.close);
    const { pool } = server.deps.services.database;
    const first = await readChanges(pool, null);
    const second = await readChanges(pool, first.position);
    expect(second.changes).toEqual([]);
    await pool.query('TRUNCATE cache_changes');
    expect((await readChanges(pool, second.position)).changes).toBe('all');
  },
);
