import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { buildIndexes } from '../../src/db/build-indexes.ts';
import { listIndexes } from '../../src/db/list-indexes.ts';
import { partitionOf } from '../../src/db/log-partition.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger } from '../../src/lib/log.ts';
import { maintain, startMaintenance } from '../../src/services/maintenance.ts';
import { noteClock } from '../setup/clock-notes.ts';
import { createTestDatabase, serverUrl } from '../setup/database.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';

const patient = { timeout: 20_000, interval: 50 };

test('entries past the retention are dropped, later ones are kept, and the coming weeks have partitions', async () => {
  const server = await startTestServer();
  try {
    const world = await createWorld(server);
    const { database } = server.deps.services;
    const { pool } = database;
    const count = async () =>
      Number(
        (await pool.query('SELECT count(*) FROM security_log WHERE developer_id = $1', [world.developer.id]))
          .rows[0].count,
      );
    expect(await count()).toBe(1);

    const at = (days: number) => ({ now: () => Date.now() + days * 24 * 60 * 60 * 1000 });
    const maintainAfter = (days: number) =>
      maintain({ database, clock: at(days), log: createLogger('silent'), retentionDays: 90 });
    await maintainAfter(89);
    expect(await count()).toBe(1);
    await maintainAfter(98);
    expect(await count(), 'nothing that was over a day ago').toBe(1);
    await maintainAfter(99);
    expect(await count()).toBe(0);

    const { rows } = await pool.query(
      `SELECT count(*) FROM pg_inherits WHERE inhparent = 'security_log'::regclass`,
    );
    expect(Number(rows[0].count)).toBeGreaterThan(5);
  } finally {
    await server.close();
  }
});

/** An end user with an expired session and a valid one. */
async function seedSessions(server: TestServer): Promise<void> {
  const { prisma } = server.deps.services.database;
  await prisma.endUserSession.deleteMany();
  const world = await createWorld(server);
  const application = await world.createApplication();
  await application.settings({ requireLicenseToRegister: false });
  const answer = await world.client.post(`/api/v1/apps/${application.id}/users`, {
    username: 'grace',
    password: 'password 1',
  });
  expect(answer.status).toBe(201);
  const { id: endUserId } = await prisma.endUser.findFirstOrThrow({
    where: { applicationId: application.id },
  });
  const session = (hours: number) => ({
    id: newId(),
    endUserId,
    tokenHash: new Uint8Array(randomBytes(32)),
    expiresAt: new Date(Date.now() + hours * 60 * 60 * 1000),
  });
  await prisma.endUserSession.createMany({ data: [session(-25), session(1)] });
}

/** For each remaining session, whether it is valid. */
async function sessionsGoOn(server: TestServer): Promise<boolean[]> {
  const sessions = await server.deps.services.database.prisma.endUserSession.findMany();
  return sessions.map(({ expiresAt }) => expiresAt > new Date());
}

describe('an embedded database', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ database: 'memory' });
  });
  afterAll(() => server.close());

  test('is vacuumed, as it has no autovacuum', async () => {
    const { database } = server.deps.services;
    // Only a vacuum marks a page as visible to all, and the first change to it removes the mark.
    const clean = async () =>
      (await database.pool.query(`SELECT relallvisible FROM pg_class WHERE relname = 'developers'`)).rows[0];
    await createWorld(server);
    expect(await clean()).toEqual({ relallvisible: 0 });
    await maintain({ database, clock: server.clock, log: createLogger('silent'), retentionDays: 90 });
    expect(await clean()).toEqual({ relallvisible: 1 });
  });

  test("loses end users' sessions that are over, and no others", async () => {
    const { database } = server.deps.services;
    await seedSessions(server);
    await noteClock(database.pool);
    await maintain({ database, clock: server.clock, log: createLogger('silent'), retentionDays: 90 });
    expect(await sessionsGoOn(server)).toEqual([true]);
  });

  test('forgets leases an hour after they ended, with the rest of a day, and no others', async () => {
    const { pool } = server.deps.services.database;
    const { id } = await (await createWorld(server)).createApplication();
    const ended = (hours: number) =>
      pool.query(
        `INSERT INTO leases
           (application_id, license_id, device_hash, seq, rev, jti, issued_at, expires_at, logged_at, revoked_rev)
         VALUES ($1, $2, repeat('A', 43), 1, 0, $2, now(), now() - $3 * interval '1 hour', now(), 1)`,
        [id, newId(), hours],
      );
    for (const hours of [26, 24.5, -1]) await ended(hours);
    await noteClock(pool);
    const { database } = server.deps.services;
    await maintain({ database, clock: server.clock, log: createLogger('silent'), retentionDays: 90 });
    const { rows } = await pool.query('SELECT expires_at > now() AS runs FROM leases ORDER BY expires_at');
    expect(rows).toEqual([{ runs: false }, { runs: true }]);
  });

  test('has its change records deleted after a day', async () => {
    const { database, clock, log } = server.deps.services;
    await database.pool.query(
      `INSERT INTO cache_changes (cache, keys, changed_at) VALUES
         ('ban', '["young"]', now() - interval '23 hours'), ('ban', '["old"]', now() - interval '25 hours')`,
    );
    await noteClock(database.pool);
    await maintain({ database, clock, log, retentionDays: 90 });
    expect((await database.pool.query('SELECT keys FROM cache_changes')).rows).toEqual([{ keys: ['young'] }]);
  });

  test('is maintained soon after the start, for a service that never runs for long', async () => {
    const { database, clock, log } = server.deps.services;
    await seedSessions(server);
    await noteClock(database.pool);
    const stop = startMaintenance({ database, clock, log, retentionDays: 90, firstAfterMilliseconds: 0 });
    try {
      await vi.waitFor(async () => expect(await sessionsGoOn(server)).toEqual([true]), patient);
    } finally {
      await stop();
    }
  });
});

test('a failed step is logged, and later steps still run', async () => {
  const server = await startTestServer({ database: 'memory' });
  try {
    const { database, log } = server.deps.services;
    await seedSessions(server);
    const later = Date.now() + 10 * 7 * 24 * 60 * 60 * 1000;
    // A table that has the name of a partition.
    await database.pool.query(`CREATE TABLE ${partitionOf(later, 0).name} ()`);
    await database.prisma.endUserSession.updateMany({
      where: { expiresAt: { gt: new Date() } },
      data: { expiresAt: new Date(later + 60 * 60 * 1000) },
    });
    await noteClock(database.pool, later - 24 * 60 * 60 * 1000);
    await maintain({ database, clock: { now: () => later }, log, retentionDays: 90 });
    expect(await sessionsGoOn(server)).toEqual([true]);
    const errors = server.logLines.filter((line) => line.includes('the next maintenance tries again'));
    expect(errors).toEqual([expect.stringContaining("Could not create the coming weeks' log partitions")]);
    expect(errors[0]).toContain('is not attached to the log');
  } finally {
    await server.close();
  }
});

test.skipIf(serverUrl === null)(
  "an index that waits for somebody's transaction is left when the service stops, and the next start builds it",
  async () => {
    const database = await createTestDatabase('server');
    const { pool } = database;
    const somebody = await pool.connect();
    try {
      await somebody.query(`SET idle_in_transaction_session_timeout = '60s'`);
      await somebody.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM licenses');
      const building = async () => {
        const { rows } = await pool.query<{ wait: string | null }>(
          `SELECT wait_event_type AS wait FROM pg_stat_activity
           WHERE datname = current_database() AND state = 'active' AND query LIKE '% CREATE INDEX CONCURRENTLY %'
             AND pid <> pg_backend_pid()`,
        );
        return rows.map(({ wait }) => wait);
      };
      const lines: string[] = [];
      const output = new Writable({
        write(line, _encoding, done) {
          lines.push(String(line));
          done();
        },
      });
      const log = createLogger('debug', output);
      const stop = startMaintenance({ database, clock: systemClock, log, retentionDays: 90 });
      await vi.waitFor(async () => expect(await building()).toEqual(['Lock']), patient);
      await stop();
      await vi.waitFor(async () => expect(await building()).toEqual([]), patient);
      expect(lines).toEqual([expect.stringContaining('the next start builds it')]);
      await somebody.query('ROLLBACK');
      const names = listIndexes.map(({ name }) => name);
      await vi.waitFor(async () => expect(await buildIndexes(pool, listIndexes)).toEqual(names), patient);
    } finally {
      somebody.release(true);
      await database.close();
    }
  },
  90_000,
);
