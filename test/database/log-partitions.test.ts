import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { type LogPartitionUnit, lowestId, partitionOf } from '../../src/db/log-partition.ts';
import { coveredUntil, gapAt } from '../../src/db/log-partition-plan.ts';
import { dropExpiredLogPartitions, ensureLogPartitions } from '../../src/db/log-partitions.ts';
import { createLogger } from '../../src/lib/log.ts';
import {
  createServerDatabase,
  createTestDatabase,
  databaseKinds,
  serverUrl,
  silent,
} from '../setup/database.ts';

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** A database with only the partitions of a start at `now`. */
async function databaseAt(kind: 'memory' | 'server', now: Date, unit?: LogPartitionUnit): Promise<Database> {
  const database = await createTestDatabase(kind);
  undo.push(database.close);
  for (const name of await partitions(database)) {
    if (name !== 'security_log_default') await database.pool.query(`DROP TABLE ${name}`);
  }
  await ensureLogPartitions(database.pool, now, unit);
  return database;
}

async function partitions({ pool }: Pick<Database, 'pool'>): Promise<string[]> {
  const found = await pool.query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'security_log'::regclass ORDER BY 1`,
  );
  return found.rows.map((row) => row.name);
}

async function developer({ prisma }: Database): Promise<string> {
  const id = randomUUID();
  await prisma.developer.create({
    data: { id, email: id, emailNormalized: id, name: '', passwordHash: '$argon2id$' },
  });
  return id;
}

/** Logs an entry with this time and returns its partition. */
async function logAt({ pool }: Database, developerId: string, time: string): Promise<string> {
  const entry = await pool.query<{ partition: string }>(
    `INSERT INTO security_log (id, developer_id, event, metadata) VALUES ($1, $2, 'test', '{}')
     RETURNING tableoid::regclass::text AS partition`,
    [lowestId(Date.parse(time)).replace(/.{12}$/, randomUUID().slice(-12)), developerId],
  );
  return entry.rows[0]?.partition ?? 'none';
}

async function entries({ pool }: Database): Promise<string[]> {
  const found = await pool.query<{ partition: string }>(
    'SELECT tableoid::regclass::text AS partition FROM security_log ORDER BY 1',
  );
  return found.rows.map((row) => row.partition);
}

const now = new Date('2026-11-18T12:00:00Z');
const weeks = ['20261109', '20261116', '20261123', '20261130', '20261207', '20261214'];
const made = [...weeks.map((day) => `security_log_${day}`), 'security_log_default'];

describe('the partition of a time', () => {
  it('is the week from Monday to Monday in UTC', () => {
    for (const time of ['2026-11-16T00:00:00.000Z', '2026-11-22T23:59:59.999Z']) {
      expect(partitionOf(Date.parse(time)).name).toBe('security_log_20261116');
    }
    expect(partitionOf(Date.parse('2026-11-23T00:00:00.000Z')).name).toBe('security_log_20261123');
  });

  it('begins at the lowest UUIDv7 of its first millisecond and ends where the next begins', () => {
    const start = Date.parse('2026-11-16T00:00:00.000Z');
    const partition = partitionOf(start);
    expect(Number.parseInt(partition.from.replaceAll('-', '').slice(0, 12), 16)).toBe(start);
    expect(partition.from).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-0000-0000-000000000000$/);
    expect(partition.to).toBe(partitionOf(start, 1).from);
  });
});

describe.each(databaseKinds)('daily log partitions on %s', (kind) => {
  const days = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, index) => {
      const day = new Date(Date.UTC(2026, 10, first + index)).toISOString().slice(0, 10).replaceAll('-', '');
      return `security_log_day_${day}`;
    });

  it('are created from yesterday to two weeks ahead', async () => {
    const database = await databaseAt(kind, now, 'day');
    expect(await partitions(database)).toEqual(['security_log_default', ...days(17, 32)].toSorted());
    const id = await developer(database);
    expect(await logAt(database, id, '2026-11-18T00:00:00.000Z')).toBe('security_log_day_20261118');
    expect(await logAt(database, id, '2026-11-18T23:59:59.999Z')).toBe('security_log_day_20261118');
  });

  it('replace empty weeks to come, and keep this week and weeks that have entries', async () => {
    const database = await databaseAt(kind, now);
    const id = await developer(database);
    expect(await logAt(database, id, '2026-12-01T00:00:00Z')).toBe('security_log_20261130');
    await ensureLogPartitions(database.pool, now, 'day');
    const kept = ['20261109', '20261116', '20261130', '20261207', '20261214'].map(
      (day) => `security_log_${day}`,
    );
    expect(await partitions(database)).toEqual([...kept, 'security_log_default', ...days(23, 29)].toSorted());
    expect(await entries(database)).toEqual(['security_log_20261130']);
    // A later maintenance replaces the next week, and creates nothing twice.
    await ensureLogPartitions(database.pool, new Date('2026-11-25T12:00:00Z'), 'day');
    expect(await partitions(database)).toEqual(
      [
        ...kept.filter((name) => !name.endsWith('1207')),
        'security_log_default',
        ...days(23, 29),
        ...days(37, 39),
      ].toSorted(),
    );
  });

  it('are replaced by weeks if they are empty and to come, and a week with entries of some days keeps its days', async () => {
    const database = await databaseAt(kind, now, 'day');
    const id = await developer(database);
    await logAt(database, id, '2026-11-18T00:00:00Z');
    await logAt(database, id, '2026-12-02T00:00:00Z');
    await ensureLogPartitions(database.pool, now, 'week');
    const weeks = ['20261109', '20261123', '20261207', '20261214'].map((day) => `security_log_${day}`);
    const expected = [...weeks, 'security_log_default', ...days(16, 22), ...days(30, 36)].toSorted();
    expect(await partitions(database)).toEqual(expected);
    expect(await entries(database)).toEqual(['security_log_day_20261118', 'security_log_day_20261202']);
    await ensureLogPartitions(database.pool, now, 'week');
    expect(await partitions(database)).toEqual(expected);
    // No time is without a partition.
    expect(await logAt(database, id, '2026-11-22T23:59:59.999Z')).toBe('security_log_day_20261122');
    expect(await logAt(database, id, '2026-11-23T00:00:00Z')).toBe('security_log_20261123');
  });

  it('and weekly ones can be wanted by concurrent callers, and every time keeps one partition', async () => {
    const database = await databaseAt(kind, now);
    const id = await developer(database);
    await logAt(database, id, '2026-11-24T00:00:00Z');
    const units = ['day', 'week', 'day', 'week', 'day'] as const;
    await Promise.all(units.map((unit) => ensureLogPartitions(database.pool, now, unit)));
    for (const day of [18, 22, 23, 26, 30, 32])
      expect(await logAt(database, id, new Date(Date.UTC(2026, 10, day)).toISOString())).not.toContain(
        'default',
      );
  });

  it('are dropped by their ranges in the catalog, whatever their names', async () => {
    const database = await databaseAt(kind, now, 'day');
    const id = await developer(database);
    await logAt(database, id, '2026-11-17T00:00:00Z');
    await database.pool.query('ALTER TABLE security_log_day_20261117 RENAME TO security_log_odd');
    const dayAfter = (date: string) => new Date(Date.parse(date) + 24 * 60 * 60 * 1000);
    expect(await dropExpiredLogPartitions(database.pool, dayAfter('2026-11-17T23:59:59.999Z'), 1)).toEqual(
      [],
    );
    expect(await dropExpiredLogPartitions(database.pool, dayAfter('2026-11-18T00:00:00Z'), 1)).toEqual([
      'security_log_odd',
    ]);
    expect(await entries(database)).toEqual([]);
  });

  it('keep the search data of entries that a partition with older ones still has', async () => {
    const database = await databaseAt(kind, now);
    const application = randomUUID();
    const note = (time: string) =>
      database.pool.query(
        `INSERT INTO log_search_backlog (application_id, from_id, to_id, entries) VALUES ($1, $2, $2, 1)`,
        [application, lowestId(Date.parse(time))],
      );
    await note('2026-11-17T00:00:00Z');
    await note('2026-11-15T00:00:00Z');
    await dropExpiredLogPartitions(database.pool, new Date('2026-11-20T00:00:00Z'), 1);
    const { rows } = await database.pool.query('SELECT to_id FROM log_search_backlog');
    expect(rows).toEqual([{ to_id: lowestId(Date.parse('2026-11-17T00:00:00Z')) }]);
  });
});

describe('the end of the partitions', () => {
  const week = (offset: number) => partitionOf(now.getTime(), offset);

  it('is where the first gap after now begins', () => {
    expect(coveredUntil(now.getTime(), [week(2), week(0), week(1), week(-1)])).toBe(week(2).end);
    expect(coveredUntil(now.getTime(), [week(0), week(2)])).toBe(week(0).end);
    expect(coveredUntil(now.getTime(), [week(1)])).toBe(now.getTime());
  });

  it('lacks the week or day of the setting, and only a day if other days of the week have partitions', () => {
    expect(gapAt(now.getTime(), 'week', [week(0)])).toBeNull();
    expect(gapAt(now.getTime(), 'week', [week(1)])).toEqual(week(0));
    const yesterday = partitionOf(now.getTime(), -1, 'day');
    expect(gapAt(now.getTime(), 'week', [yesterday])).toEqual(partitionOf(now.getTime(), 0, 'day'));
    expect(gapAt(now.getTime(), 'day', [yesterday])).toEqual(partitionOf(now.getTime(), 0, 'day'));
  });
});

describe.each(databaseKinds)('log partitions on %s', (kind) => {
  it('are created once, for last week and some weeks ahead', async () => {
    const database = await databaseAt(kind, now);
    expect(await partitions(database)).toEqual(made);
    await ensureLogPartitions(database.pool, now);
    expect(await partitions(database)).toEqual(made);
  });

  it('contain the entries of their weeks, and the default partition the rest', async () => {
    const database = await databaseAt(kind, now);
    const id = await developer(database);
    expect(await logAt(database, id, '2026-11-16T00:00:00.000Z')).toBe('security_log_20261116');
    expect(await logAt(database, id, '2026-11-22T23:59:59.999Z')).toBe('security_log_20261116');
    expect(await logAt(database, id, '2026-11-23T00:00:00.000Z')).toBe('security_log_20261123');
    expect(await logAt(database, id, '2027-06-01T00:00:00.000Z')).toBe('security_log_default');
  });

  it('receive the entries that went to the default partition while they were missing', async () => {
    const database = await databaseAt(kind, now);
    const id = await developer(database);
    expect(await logAt(database, id, '2026-12-22T00:00:00Z')).toBe('security_log_default');
    await ensureLogPartitions(database.pool, new Date('2026-12-16T00:00:00Z'));
    expect(await entries(database)).toEqual(['security_log_20261221']);
  });

  it('cascade: deleting an account deletes its entries in every partition', async () => {
    const database = await databaseAt(kind, now);
    const [mine, theirs] = [await developer(database), await developer(database)];
    for (const id of [mine, theirs]) {
      await logAt(database, id, '2026-11-17T00:00:00Z');
      await logAt(database, id, '2027-11-17T00:00:00Z');
    }
    await database.prisma.developer.delete({ where: { id: mine } });
    expect(await entries(database)).toEqual(['security_log_20261116', 'security_log_default']);
  });

  it('are dropped only when all of their entries are older than the retention', async () => {
    const database = await databaseAt(kind, now);
    const id = await developer(database);
    await logAt(database, id, '2026-11-10T00:00:00Z');
    await logAt(database, id, '2026-11-17T00:00:00Z');
    await logAt(database, id, '2020-01-01T00:00:00Z');
    const days = 90;
    const retained = (date: string) => new Date(Date.parse(date) + days * 24 * 60 * 60 * 1000);
    const lastMillisecond = retained('2026-11-15T23:59:59.999Z');
    expect(await dropExpiredLogPartitions(database.pool, lastMillisecond, days)).toEqual([]);
    expect(await entries(database)).toEqual(['security_log_20261109', 'security_log_20261116']);
    const next = retained('2026-11-16T00:00:00.000Z');
    expect(await dropExpiredLogPartitions(database.pool, next, days)).toEqual(['security_log_20261109']);
    expect(await entries(database)).toEqual(['security_log_20261116']);
    expect(await partitions(database)).toEqual(made.slice(1));
  });

  it('are created once by several concurrent callers', async () => {
    const database = await databaseAt(kind, now);
    const later = new Date('2027-02-01T00:00:00Z');
    await Promise.all(Array.from({ length: 5 }, () => ensureLogPartitions(database.pool, later)));
    expect(await partitions(database)).toHaveLength(made.length + 6);
  });

  it.runIf(kind === 'server')('are dropped while the log is in use, without blocking others', async () => {
    const database = await databaseAt(kind, now);
    const id = await developer(database);
    await logAt(database, id, '2026-11-10T00:00:00Z');
    const reader = await database.pool.connect();
    await reader.query('BEGIN');
    await reader.query('SELECT count(*) FROM security_log');
    const later = new Date(Date.parse('2026-11-16T00:00:00Z') + 90 * 24 * 60 * 60 * 1000);
    const dropping = dropExpiredLogPartitions(database.pool, later, 90);
    const waiting = async () => {
      const { rows } = await database.pool.query<{ amount: number }>(
        `SELECT count(*)::int AS amount FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'DROP TABLE%'`,
      );
      return rows[0]?.amount ?? 0;
    };
    while ((await waiting()) === 0);
    // This write waits behind the drop, which waits for the reader, which ends only after this write.
    expect(await logAt(database, id, '2026-11-17T00:00:00Z')).toBe('security_log_20261116');
    await reader.query('COMMIT');
    reader.release();
    expect(await dropping).toEqual(['security_log_20261109']);
    expect(await entries(database)).toEqual(['security_log_20261116']);
  });
});

describe.skipIf(serverUrl === null)('a start while the whole log is read', () => {
  /** A database that lacks the partitions of some weeks, and whose log an open transaction has read. */
  async function inUseWithout(...missing: number[]): Promise<string> {
    const { url, drop } = await createServerDatabase();
    undo.push(drop);
    const first = await openDatabase({ kind: 'server', url }, { log: silent });
    undo.push(first.close);
    for (const week of missing) await first.pool.query(`DROP TABLE ${partitionOf(Date.now(), week).name}`);
    const reader = await first.pool.connect();
    undo.push(async () => reader.release(true));
    await reader.query('BEGIN');
    await reader.query('SELECT FROM security_log');
    return url;
  }

  it('leaves the coming weeks to maintenance and logs that', async () => {
    const url = await inUseWithout(4);
    const lines: string[] = [];
    const log = createLogger(
      'warn',
      new Writable({
        write: (line, _encoding, done) => {
          lines.push(String(line));
          done();
        },
      }),
    );
    const second = await openDatabase({ kind: 'server', url }, { log });
    undo.push(second.close);
    expect(lines).toEqual([
      expect.stringMatching(
        /Waiting a few seconds for other users of the security log before creating partitions/,
      ),
      expect.stringMatching(/Postponed log partitions of the coming weeks: the log is in use/),
    ]);
  });

  it('fails with a reason if this week has no partition', async () => {
    const url = await inUseWithout(0);
    await expect(openDatabase({ kind: 'server', url }, { log: silent })).rejects.toMatchObject({
      problem: 'log-in-use',
      message: expect.stringMatching(
        /no partition for this week \(security_log_\d{8}\).*start again when they have ended/,
      ),
    });
  });
});
