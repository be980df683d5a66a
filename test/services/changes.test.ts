import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import type { ServerState } from '../../src/db/server.ts';
import { createWatchConnection } from '../../src/db/watch-connection.ts';
import { createLogger } from '../../src/lib/log.ts';
import type { Change, Changes } from '../../src/services/changes/change.ts';
import { createChangePurge } from '../../src/services/changes/purge.ts';
import { readChanges } from '../../src/services/changes/read.ts';
import { createChangeRecorder, recordChanges } from '../../src/services/changes/record.ts';
import { startWatch, type Watch } from '../../src/services/changes/watch.ts';
import { hasRedisServer, OwnRedis } from '../ephemeral/support.ts';
import { databaseKinds } from '../setup/database.ts';
import { type Relay, startRelay } from '../setup/relay.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { logStatements } from '../setup/statements.ts';
import { sql } from '../setup/stored.ts';
import { createWorld } from '../setup/world.ts';

const patient = { timeout: 20_000, interval: 10 };
const log = createLogger('silent');
/** What a watch tells its database, in order. */
function serverStates() {
  const states: ServerState[] = [];
  return {
    states,
    isAvailable: () => states.at(-1) !== 'unavailable',
    hangUp: () => undefined,
    noteState: (state: ServerState) => void (states.at(-1) === state || states.push(state)),
  };
}
const apiKeyAnswer = z.object({ key: z.object({ id: z.string() }) });

describe.skipIf(process.env.TEST_DATABASE_URL === undefined)('what others have changed', () => {
  let server: TestServer;
  let pool: Pool;
  beforeAll(async () => {
    server = await startTestServer({ database: 'server' });
    pool = server.deps.services.database.pool;
  });
  afterAll(() => server.close());

  const note = (...changes: Change[]) =>
    server.deps.services.database.prisma.$transaction((transaction) => recordChanges(transaction, changes));
  const license = (...keys: string[]): Change => ({ cache: 'license', keys });

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
      await recordChanges(transaction, [license('undone')]);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect((await readChanges(pool, first.position)).changes).toEqual([]);
  });

  test('is named however much it is, in rows that stay small', async () => {
    const first = await readChanges(pool, null);
    const keys = Array.from({ length: 2_001 }, () => randomUUID());
    await note(license(...keys));
    const { changes } = await readChanges(pool, first.position);
    if (changes === 'all') throw new Error('everything is to be forgotten');
    expect(changes.flatMap((change) => change.keys)).toEqual(keys);
    expect(changes.map((change) => change.keys.length)).toEqual([1_000, 1_000, 1]);
  });

  test('is everything where no server commits so much between two looks', async () => {
    const first = await readChanges(pool, null);
    const insert = (rows: number) =>
      pool.query(
        `INSERT INTO cache_changes (cache, keys) SELECT 'ban', '["x"]' FROM generate_series(1, ${rows})`,
      );
    await insert(10_000);
    const second = await readChanges(pool, first.position);
    expect(second.changes).toHaveLength(10_000);
    await insert(10_001);
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

  test('is kept until it was seen long ago, whatever the clocks say', async () => {
    await pool.query('TRUNCATE cache_changes');
    const insert = (key: string, changedAt: string) =>
      pool.query(
        `INSERT INTO cache_changes (cache, keys, changed_at) VALUES ('license', $1, now() + $2::interval)`,
        [JSON.stringify([key]), changedAt],
      );
    const purge = createChangePurge(pool);
    await insert('seen', '1 year');
    // As a backup that reads for hours: it must not keep them.
    const reader = await pool.connect();
    onTestFinished(() => reader.release(true));
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id()');
    await insert('seen meanwhile', '0');
    await purge();
    await insert('unseen', '-1 year');
    await purge();
    expect((await pool.query('SELECT keys FROM cache_changes')).rows).toEqual([{ keys: ['unseen'] }]);
  });

  test('is recorded outside of a transaction too, after a change without keys as well', async () => {
    const first = await readChanges(pool, null);
    const recorder = createChangeRecorder(pool, log);
    await recorder.record('log', []);
    await recorder.record('logout', ['cookie']);
    const logout: Change = { cache: 'logout', keys: ['cookie'] };
    await vi.waitFor(
      async () => expect((await readChanges(pool, first.position)).changes).toContainEqual(logout),
      patient,
    );
  });

  test('costs a write one statement, the last before its commit', async () => {
    const log = logStatements(pool);
    const world = await createWorld(server);
    const post = (path: string, body?: unknown) => world.client.post(`/api/v1${path}`, body);
    const application = await world.createApplication();
    const { id } = await application.mintOne();
    const key = apiKeyAnswer.parse((await post('/account/api-keys', { name: 'key' })).body).key;
    const writes: [string, () => Promise<unknown>][] = [
      ['settings', () => application.settings({ hwidLockEnabled: false })],
      ['mint', () => application.mint({ amount: 1_500 })],
      ['tier', () => post(`/licenses/${id}/tier`, { subscriptionTier: 3 })],
      ['extend', () => post(`/apps/${application.id}/licenses/extend`, { seconds: 1 })],
      ['ban', () => post(`/licenses/${id}/ban`)],
      ['revoke', () => post(`/account/api-keys/${key.id}/revoke`)],
      ['delete', () => world.client.delete(`/api/v1/apps/${application.id}`)],
    ];
    for (const [what, write] of writes) {
      log.take();
      await write();
      const statements = log.take();
      expect(
        statements.filter((text) => text.includes('INTO cache_changes')),
        what,
      ).toHaveLength(1);
      expect(statements.at(statements.indexOf('COMMIT') - 1), what).toContain('INTO cache_changes');
    }
  });

  describe('a watch', () => {
    /** Tells its connection from that of the server under test. */
    const name = 'watch under test';
    async function watch(
      staleIfDownSeconds: number,
    ): Promise<{ watch: Watch; relay: Relay; database: ReturnType<typeof serverStates> }> {
      const relay = await startRelay(server.databaseEnv.DATABASE_URL ?? '');
      onTestFinished(() => relay.close());
      const database = serverStates();
      const options = { log, database, staleIfDownSeconds, beatMilliseconds: 20 };
      const url = new URL(relay.url);
      url.searchParams.set('application_name', name);
      const started = await startWatch({ ...options, connection: createWatchConnection(url.href, log) });
      onTestFinished(() => started.close());
      return { watch: started, relay, database };
    }

    test('tells what was committed while the server was out of reach before anything is served again', async () => {
      const { watch: watching, relay } = await watch(0);
      const told: { changes: Changes; mayServe: boolean }[] = [];
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

    test('serves nothing that is cached after it stood still, until it has looked again', async () => {
      const { watch: watching } = await watch(60);
      expect(watching.mayServe).toBe(true);
      // What a suspended machine finds when it goes on.
      const wall = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
      expect(watching.mayServe).toBe(false);
      await vi.waitFor(() => expect(watching.mayServe).toBe(true), patient);
      wall.mockRestore();
    });

    test('serves nothing from the cache after a suspension while the server was unavailable, until it has looked again', async () => {
      const { watch: watching, relay } = await watch(60);
      const warned = vi.spyOn(log, 'warn');
      onTestFinished(() => warned.mockRestore());
      relay.cut();
      const away = expect.stringMatching(/^Database unreachable/);
      await vi.waitFor(() => expect(warned).toHaveBeenCalledWith(expect.anything(), away), patient);
      expect(watching.mayServe).toBe(true);
      const wall = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
      expect(watching.mayServe).toBe(false);
      await vi.waitFor(() => expect(watching.mayServe).toBe(true), patient);
      wall.mockRestore();
    });

    test('does not mistake a look that failed because of a suspension for an outage', async () => {
      const { watch: watching } = await watch(60);
      const told: Changes[] = [];
      watching.listen((changes) => told.push(changes));
      const other = await pool.connect();
      try {
        await other.query('BEGIN; LOCK TABLE cache_changes');
        const looking = `FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = '${name}' AND wait_event_type = 'Lock'`;
        await vi.waitFor(
          async () => expect((await other.query(`SELECT pid ${looking}`)).rowCount).toBe(1),
          patient,
        );
        // What it finds when it resumes: a query that timed out long ago, and a change that it has missed.
        const wall = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
        onTestFinished(() => void wall.mockRestore());
        await other.query(
          `SELECT pg_terminate_backend(pid) ${looking};
           INSERT INTO cache_changes (cache, keys) VALUES ('license', '["missed"]'); COMMIT`,
        );
        let served = false;
        while (told.length === 0) {
          served ||= watching.mayServe;
          await setImmediate();
        }
        expect(served).toBe(false);
        expect(told[0]).toEqual([license('missed')]);
        await vi.waitFor(() => expect(watching.mayServe).toBe(true), patient);
      } finally {
        other.release(true);
      }
    });

    test('only looks: no change waits for the deletion of old ones', async () => {
      const { watch: watching } = await watch(60);
      const told: Changes[] = [];
      watching.listen((changes) => told.push(changes));
      await pool.query(
        `INSERT INTO cache_changes (cache, keys, changed_at) VALUES ('license', '["old"]', now() - interval '2 hours')`,
      );
      await vi.waitFor(() => expect(told).toEqual([[license('old')]]), patient);
      const inAWhile = performance.now() + 11 * 60_000;
      const process = vi.spyOn(performance, 'now').mockImplementation(() => inAWhile);
      onTestFinished(() => void process.mockRestore());
      for (const key of ['a', 'b']) {
        const before = told.length;
        await note(license(key));
        await vi.waitFor(() => expect(told.length).toBeGreaterThan(before), patient);
      }
      expect((await pool.query(`SELECT FROM cache_changes WHERE keys = '["old"]'`)).rowCount).toBe(1);
    });

    test('waits for the others no longer than the service runs, however many changes wait', async () => {
      const options = { log, database: serverStates(), staleIfDownSeconds: 0, beatMilliseconds: 3_600_000 };
      const started = await startWatch({
        ...options,
        connection: createWatchConnection(server.databaseEnv.DATABASE_URL ?? '', log),
      });
      const warnings: string[] = [];
      const note = ({ name }: Error) => warnings.push(name);
      process.on('warning', note);
      const waiting = Array.from({ length: 100 }, () => started.waitForOthers());
      await started.close();
      await Promise.all(waiting);
      // Node.js warns in a later turn.
      await setImmediate();
      process.off('warning', note);
      expect(warnings).toEqual([]);
    });

    test('has the pool cut while the server is out of reach, over one connection of its own', async () => {
      const { relay, database } = await watch(60);
      const watching = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = '${name}'`;
      expect((await pool.query(watching)).rowCount).toBe(1);
      relay.pause();
      await vi.waitFor(() => expect(database.states).toEqual(['writable', 'unavailable']), patient);
      relay.restore();
      await vi.waitFor(
        () => expect(database.states).toEqual(['writable', 'unavailable', 'writable']),
        patient,
      );
    });

    test('is not misled by a connection that an administrator ends', async () => {
      const { watch: watching, database } = await watch(0);
      const own = `FROM pg_stat_activity WHERE datname = current_database() AND application_name = '${name}'`;
      for (let turn = 0; turn < 5; turn += 1) {
        const told: Changes[] = [];
        watching.listen((changes) => told.push(changes));
        await pool.query(`SELECT pg_terminate_backend(pid) ${own}`);
        await note(license(`turn ${turn}`));
        await vi.waitFor(() => expect(told).toContainEqual([license(`turn ${turn}`)]), patient);
        expect(watching.mayServe).toBe(true);
      }
      expect(database.states).toEqual(['writable']);
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

describe.each(['with Redis', 'without Redis'])('%s', (store) => {
  test.skipIf(store === 'with Redis' && !hasRedisServer).each(databaseKinds)(
    'changes are noted where another instance may read them (%s)',
    async (kind) => {
      const env: Record<string, string> =
        store === 'with Redis' ? { REDIS_URL: (await OwnRedis.start()).url } : {};
      const server = await startTestServer({ database: kind, env });
      try {
        const application = await (await createWorld(server)).createApplication();
        await application.settings({ requireLicenseToRegister: false });
        const noted = await sql(server, 'SELECT DISTINCT cache FROM cache_changes ORDER BY cache');
        const changes = [{ cache: 'application' }, ...(store === 'with Redis' ? [] : [{ cache: 'log' }])];
        expect(noted).toEqual(kind === 'server' ? changes : []);
      } finally {
        await server.close();
      }
    },
    60_000,
  );
});
