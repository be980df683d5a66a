import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createWatchPool } from '../../src/db/watch-pool.ts';
import { createLogger } from '../../src/lib/log.ts';
import { type CacheChange, noteChanges } from '../../src/services/coherence/cache-change.ts';
import { type DatabaseWatch, startDatabaseWatch } from '../../src/services/coherence/database-watch.ts';
import { purgeChanges, readChanges } from '../../src/services/coherence/read-changes.ts';
import { hasRedisServer, OwnRedis } from '../ephemeral/support.ts';
import { databaseKinds } from '../setup/database.ts';
import { type Relay, startRelay } from '../setup/relay.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { createWorld } from '../setup/world.ts';

const patient = { timeout: 20_000, interval: 10 };
const log = createLogger('silent');

describe.skipIf(process.env.TEST_DATABASE_URL === undefined)('what others have changed', () => {
  let server: TestServer;
  let pool: Pool;
  beforeAll(async () => {
    server = await startTestServer({ database: 'server' });
    pool = server.deps.services.database.pool;
  });
  afterAll(() => server.close());

  const note = (...changes: CacheChange[]) =>
    server.deps.services.database.prisma.$transaction((transaction) => noteChanges(transaction, changes));
  const license = (...keys: string[]): CacheChange => ({ cache: 'license', keys });

  test('is read once, whatever it is, from the first look on', async () => {
    await note(license('before'));
    const first = await readChanges(pool, null);
    expect(first.changes).toBe('all');
    await note(license('a', 'b'), { cache: 'ban', keys: ['c'] });
    await note({ cache: 'application', keys: 'all' });
    const second = await readChanges(pool, first.position);
    expect(second.changes).toHaveLength(3);
    for (const change of [
      license('a', 'b'),
      { cache: 'ban', keys: ['c'] },
      { cache: 'application', keys: 'all' },
    ])
      expect(second.changes).toContainEqual(change);
    expect((await readChanges(pool, second.position)).changes).toEqual([]);
  });

  test('is read though it was made before others and committed after them', async () => {
    const late = await pool.connect();
    try {
      const first = await readChanges(pool, null);
      await late.query('BEGIN');
      await late.query(`INSERT INTO cache_changes (cache, keys) VALUES ('license', '["late"]')`);
      await note(license('early'));
      const second = await readChanges(pool, first.position);
      expect(second.changes).toEqual([license('early')]);
      await note(license('next'));
      const third = await readChanges(pool, second.position);
      expect(third.changes).toEqual([license('next')]);
      await late.query('COMMIT');
      expect((await readChanges(pool, third.position)).changes).toEqual([license('late')]);
    } finally {
      late.release();
    }
  });

  test('is nothing when the write was undone', async () => {
    const first = await readChanges(pool, null);
    const { prisma } = server.deps.services.database;
    const undone = prisma.$transaction(async (transaction) => {
      await noteChanges(transaction, [license('undone')]);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect((await readChanges(pool, first.position)).changes).toEqual([]);
  });

  test('is everything where that is less than naming it', async () => {
    const first = await readChanges(pool, null);
    await note(license(...Array.from({ length: 1_001 }, () => randomUUID())));
    const second = await readChanges(pool, first.position);
    expect(second.changes).toEqual([{ cache: 'license', keys: 'all' }]);
    await pool.query(
      `INSERT INTO cache_changes (cache, keys) SELECT 'ban', '["x"]' FROM generate_series(1, 501)`,
    );
    expect((await readChanges(pool, second.position)).changes).toBe('all');
  });

  test('is everything where a restore has emptied and filled the tables beneath the instance', async () => {
    const first = await readChanges(pool, null);
    const second = await readChanges(pool, first.position);
    expect(second.changes).toEqual([]);
    await pool.query('TRUNCATE cache_changes');
    expect((await readChanges(pool, second.position)).changes).toBe('all');
  });

  test('is everything on a server that was started anew, that went back, or of a later version', async () => {
    const { position } = await readChanges(pool, null);
    expect((await readChanges(pool, { ...position, serverStarted: 'another time' })).changes).toBe('all');
    const [xmin, max = '0'] = position.snapshot.split(':');
    const ahead = `${xmin}:${BigInt(max) + 1_000_000n}:`;
    expect((await readChanges(pool, { ...position, snapshot: ahead })).changes).toBe('all');
    await pool.query(`INSERT INTO cache_changes (cache, keys) VALUES ('tomorrow', '["x"]')`);
    expect((await readChanges(pool, position)).changes).toBe('all');
  });

  test('is kept for an hour', async () => {
    await pool.query('TRUNCATE cache_changes');
    await pool.query(
      `INSERT INTO cache_changes (cache, keys, changed_at) VALUES
         ('license', '["young"]', now() - interval '59 minutes'), ('license', '["old"]', now() - interval '61 minutes')`,
    );
    await purgeChanges(pool);
    expect((await pool.query('SELECT keys FROM cache_changes')).rows).toEqual([{ keys: ['young'] }]);
  });

  describe('a watch', () => {
    async function watch(staleIfDownSeconds: number): Promise<{ watch: DatabaseWatch; relay: Relay }> {
      const relay = await startRelay(server.databaseEnv.DATABASE_URL ?? '');
      onTestFinished(() => relay.close());
      const options = { log, staleIfDownSeconds, beatMilliseconds: 20 };
      const started = await startDatabaseWatch({ ...options, pool: createWatchPool(relay.url, log) });
      onTestFinished(() => started.close());
      return { watch: started, relay };
    }

    test('tells what was committed while the server was out of reach before anything is served again', async () => {
      const { watch: watching, relay } = await watch(0);
      const told: { changes: readonly CacheChange[] | 'all'; mayServe: boolean }[] = [];
      watching.listen((changes) => told.push({ changes, mayServe: watching.mayServe }));
      expect(watching.mayServe).toBe(true);
      relay.cut();
      await vi.waitFor(() => expect(watching.mayServe).toBe(false), patient);
      await note(license('missed'));
      expect(told).toEqual([]);
      relay.restore();
      await vi.waitFor(() => expect(watching.mayServe).toBe(true), patient);
      expect(told).toEqual([{ changes: [license('missed')], mayServe: false }]);
    });

    test.each(['cut', 'pause'] as const)(
      'lets what is cached be served for a while, and no longer (%s)',
      async (loss) => {
        const { watch: watching, relay } = await watch(3);
        const lostAt = performance.now();
        relay[loss]();
        await vi.waitFor(() => expect(watching.mayServe).toBe(false), patient);
        // From the last answer on, which may be a second older than the loss.
        expect(performance.now() - lostAt).toBeGreaterThan(1_500);
      },
    );
  });
});

describe.skipIf(!hasRedisServer)('with Redis', () => {
  test.each(databaseKinds)('changes are noted where another instance may read them (%s)', async (kind) => {
    const redis = await OwnRedis.start();
    const server = await startTestServer({ database: kind, env: { REDIS_URL: redis.url } });
    try {
      const application = await (await createWorld(server)).createApplication();
      await application.settings({ requireLicenseToRegister: false });
      const noted = await sql(server, 'SELECT DISTINCT cache FROM cache_changes');
      expect(noted).toEqual(kind === 'server' ? [{ cache: 'application' }] : []);
    } finally {
      await server.close();
    }
  });
});
