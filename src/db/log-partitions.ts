import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { inTransaction } from './in-transaction.ts';
import { endOf, type LogPartition, lowestId, partitionOf } from './log-partition.ts';
import { forgetGathered } from './log-search/forget.ts';
import { DatabaseStartError } from './start-error.ts';

/** Advisory lock under which partitions are made and dropped, so that instances take turns. */
const advisoryLock = 72707370;
/** How far ahead partitions are made; the DEFAULT partition takes what comes later than that. */
const weeksAhead = 4;

/**
 * Makes the weekly partitions of the security log from last week to a few weeks ahead. Does nothing where they
 * exist. Call it at start and at least once a week. Several instances may call it at once.
 */
export async function ensureLogPartitions(pool: pg.Pool, now: Date): Promise<void> {
  await makeMissing(pool, now, mostAttempts);
}

/** So often a start tries: some seconds, and maintenance tries again within minutes. */
const startAttempts = 5;

/**
 * The same at a start, which others who use the log for hours, as a backup does, hold up only where this week has no
 * partition.
 * @throws {DatabaseStartError} `log-in-use`
 */
export async function startLogPartitions(pool: pg.Pool, now: Date, log: Logger): Promise<void> {
  try {
    await makeMissing(pool, now, startAttempts);
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    const [thisWeek] = await missing(pool, [partitionOf(now.getTime())]);
    if (thisWeek === undefined) {
      log.warn("The coming weeks' log partitions are made later: others use the log, as a backup does");
      return;
    }
    throw new DatabaseStartError(
      'log-in-use',
      `The security log has no partition for this week (${thisWeek.name}), and none can be made while others use the ` +
        'log, as a backup or a transaction that was left open does: start again when they have ended.',
      { cause: error },
    );
  }
}

async function makeMissing(pool: pg.Pool, now: Date, attempts: number): Promise<void> {
  const wanted = Array.from({ length: weeksAhead + 2 }, (_, week) => partitionOf(now.getTime(), week - 1));
  if ((await missing(pool, wanted)).length === 0) return;
  await patiently(pool, attempts, async (client) => {
    for (const partition of await missing(client, wanted)) await create(client, partition);
  });
}

/**
 * Drops the partitions whose every entry is older than `retentionDays`, and such entries of the DEFAULT partition, and
 * what searches have of them.
 * @returns the names of the dropped partitions
 */
export async function dropExpiredLogPartitions(
  pool: pg.Pool,
  now: Date,
  retentionDays: number,
): Promise<string[]> {
  const oldest = now.getTime() - retentionDays * 24 * 60 * 60 * 1000;
  const dropped: string[] = [];
  for (const name of await existing(pool)) {
    if (endOf(name) <= oldest && (await drop(pool, name))) dropped.push(name);
  }
  await pool.query('DELETE FROM security_log_default WHERE id < $1', [lowestId(oldest)]);
  await forgetGathered(pool, partitionOf(oldest).start);
  return dropped;
}

/**
 * Drops a partition in a transaction of its own. It needs the whole log for a moment (DETACH CONCURRENTLY would not,
 * and is not to be had beside a DEFAULT partition), and whoever comes while it waits for that waits with it.
 * @returns false when it is gone already
 */
const drop = (pool: pg.Pool, name: string): Promise<boolean> =>
  patiently(pool, mostAttempts, async (client) => {
    if (!(await existing(client)).includes(name)) return false;
    await client.query(`DROP TABLE ${client.escapeIdentifier(name)}`);
    return true;
  });

/** So long who wants the log alone waits for those who use it, and others behind; then they go first, and it tries again. */
const aloneWithin = '200ms';
const mostAttempts = 20;
const pauseMilliseconds = 500;

/** One transaction that wants the log, or its DEFAULT partition, alone; over again while others use it. */
async function patiently<Result>(
  pool: pg.Pool,
  attempts: number,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  for (let left = attempts - 1; ; left--) {
    try {
      return await exclusively(pool, async (client) => {
        await client.query(`SET LOCAL lock_timeout = '${aloneWithin}'`);
        return work(client);
      });
    } catch (error) {
      if (left === 0 || !isLockTimeout(error)) throw error;
      await sleep(pauseMilliseconds);
    }
  }
}

/** SQLSTATE lock_not_available. */
const isLockTimeout = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '55P03';

async function existing(client: pg.Pool | pg.ClientBase): Promise<string[]> {
  const found = await client.query<{ name: string }>(
    `SELECT child.relname AS name FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
     WHERE inhparent = 'security_log'::regclass ORDER BY 1`,
  );
  return found.rows.map((row) => row.name);
}

async function missing(client: pg.Pool | pg.ClientBase, wanted: LogPartition[]): Promise<LogPartition[]> {
  const names = new Set(await existing(client));
  return wanted.filter((partition) => !names.has(partition.name));
}

/**
 * ATTACH takes a weaker lock on the log than PARTITION OF, so entries keep being written; but it takes the DEFAULT
 * partition for itself, which whoever reads the whole log reads. Entries of the week that
 * the DEFAULT partition already took are moved first: PostgreSQL refuses the partition otherwise.
 */
async function create(client: pg.ClientBase, { name, from, to }: LogPartition): Promise<void> {
  await client.query(`CREATE TABLE ${name} (LIKE security_log INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`);
  await client.query(
    `WITH moved AS (DELETE FROM security_log_default WHERE id >= '${from}' AND id < '${to}' RETURNING *)
     INSERT INTO ${name} SELECT * FROM moved`,
  );
  await client.query(
    `ALTER TABLE security_log ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`,
  );
}

/** One transaction under the advisory lock. Gives up rather than hold up every writer behind a long transaction. */
const exclusively = <Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> =>
  inTransaction(pool, async (client) => {
    await client.query(`SET LOCAL lock_timeout = '10s'`);
    await client.query(`SELECT pg_advisory_xact_lock(${advisoryLock})`);
    return work(client);
  });
