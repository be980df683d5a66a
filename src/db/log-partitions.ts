import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { advisoryLocks } from './advisory-locks.ts';
import { deleteInSlices } from './delete-in-slices.ts';
import { isLockTimeout } from './errors.ts';
import { inTransaction } from './in-transaction.ts';
import { endOf, type LogPartition, lowestId, partitionOf } from './log-partition.ts';
import { forgetIndexed } from './log-search/forget.ts';
import { asStartError, explained } from './refused-statement.ts';
import { DatabaseStartError } from './start-error.ts';

/** How far ahead partitions are created. Later entries go to the DEFAULT partition. */
const weeksAhead = 4;

/**
 * Creates the missing weekly partitions of the security log, from last week to a few weeks ahead. Call it at start and at
 * least once a week. Several instances can call it at the same time.
 * @throws {DatabaseStartError} `log-detached` if this week's partition is detached: its entries go to the DEFAULT one
 */
export async function ensureLogPartitions(pool: pg.Pool, now: Date): Promise<void> {
  await explained(makeMissing(pool, now, maxAttempts));
  await refuseDetached(pool, now);
}

/** Attempts of a start: a few seconds. Maintenance tries again within minutes. */
const startAttempts = 5;

/**
 * `ensureLogPartitions` for a start. If others use the log for a long time, such as a backup, the start fails only if this
 * week's partition is missing.
 * @throws {DatabaseStartError} `log-in-use`, `log-detached`, or for a statement that PostgreSQL refuses
 */
export async function startLogPartitions(pool: pg.Pool, now: Date, log: Logger): Promise<void> {
  try {
    await makeMissing(pool, now, startAttempts, () =>
      log.warn('Waiting a few seconds for other users of the security log before creating partitions'),
    );
  } catch (error) {
    if (!isLockTimeout(error)) throw asStartError(error);
    const [thisWeek] = await missing(pool, [partitionOf(now.getTime())]);
    if (thisWeek === undefined) {
      log.warn('Postponed log partitions of the coming weeks: the log is in use, for example by a backup');
      return;
    }
    throw new DatabaseStartError(
      'log-in-use',
      `The security log has no partition for this week (${thisWeek.name}), and it cannot be created while the log is in ` +
        'use, for example by a backup or a transaction that was left open: start again when they have ended.',
      { cause: error },
    );
  }
  await explained(refuseDetached(pool, now));
}

/**
 * An administrator may have detached a week from the log, for example to archive it. That is fine for a past week. Without
 * this week's partition, entries go to the DEFAULT one, which is searched and emptied row by row.
 */
async function refuseDetached(pool: pg.Pool, now: Date): Promise<void> {
  const [detached] = await detachedOf(pool, [partitionOf(now.getTime())]);
  if (detached === undefined) return;
  const { name, from, to } = detached;
  throw new DatabaseStartError(
    'log-detached',
    `The security log has no partition for this week: the table ${name} exists but is not attached to the log. Attach it ` +
      `(ALTER TABLE security_log ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')), or rename it.`,
  );
}

async function makeMissing(
  pool: pg.Pool,
  now: Date,
  attempts: number,
  onWait: () => void = () => undefined,
): Promise<void> {
  const wanted = Array.from({ length: weeksAhead + 2 }, (_, week) => partitionOf(now.getTime(), week - 1));
  if ((await toMake(pool, wanted)).length === 0) return;
  const make = async (client: pg.PoolClient): Promise<void> => {
    for (const partition of await toMake(client, wanted)) await create(client, partition);
  };
  await retryWhileInUse(pool, attempts, make, onWait);
}

/**
 * Drops partitions whose entries are all older than `retentionDays`, and deletes such entries from the DEFAULT partition
 * and from the search data.
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
  await deleteInSlices(pool, 'security_log_default', 'id < $1', lowestId(oldest));
  await forgetIndexed(pool, partitionOf(oldest).start);
  return dropped;
}

/**
 * Drops a partition in its own transaction. It briefly locks the whole log exclusively, and while it waits for that lock,
 * later statements on the log wait too. (DETACH CONCURRENTLY avoids this, but does not work with a DEFAULT partition.)
 * @returns false if the partition no longer exists
 */
const drop = (pool: pg.Pool, name: string): Promise<boolean> =>
  retryWhileInUse(pool, maxAttempts, async (client) => {
    if (!(await existing(client)).includes(name)) return false;
    await client.query(`DROP TABLE ${client.escapeIdentifier(name)}`);
    return true;
  });

/** How long to wait for an exclusive lock, and so how long later statements wait. Then they run first, and it retries. */
const lockTimeout = '200ms';
const maxAttempts = 20;
const pauseMilliseconds = 500;

/** Runs a transaction that locks the log or its DEFAULT partition exclusively, and retries while others use it. */
async function retryWhileInUse<Result>(
  pool: pg.Pool,
  attempts: number,
  work: (client: pg.PoolClient) => Promise<Result>,
  onWait: () => void = () => undefined,
): Promise<Result> {
  for (let left = attempts - 1; ; left--) {
    try {
      return await inTransaction(pool, async (client) => {
        // Instances take turns.
        await client.query(`SET LOCAL lock_timeout = '10s'`);
        await client.query(`SELECT pg_advisory_xact_lock(${advisoryLocks.logPartitions})`);
        await client.query(`SET LOCAL lock_timeout = '${lockTimeout}'`);
        return work(client);
      });
    } catch (error) {
      if (left === 0 || !isLockTimeout(error)) throw error;
      if (left === attempts - 1) onWait();
      await sleep(pauseMilliseconds);
    }
  }
}

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

/** Missing partitions, without those whose names detached tables have. */
async function toMake(client: pg.Pool | pg.ClientBase, wanted: LogPartition[]): Promise<LogPartition[]> {
  const absent = await missing(client, wanted);
  if (absent.length === 0) return absent;
  const taken = new Set((await detachedOf(client, absent)).map(({ name }) => name));
  return absent.filter(({ name }) => !taken.has(name));
}

/** Partitions whose tables exist but are not attached to the log. */
export async function detachedOf(
  client: pg.Pool | pg.ClientBase,
  partitions: readonly LogPartition[],
): Promise<LogPartition[]> {
  const found = await client.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[]) AS wanted (name)
     WHERE to_regclass(name) IS NOT NULL AND NOT EXISTS (
       SELECT FROM pg_inherits WHERE inhrelid = to_regclass(name) AND inhparent = 'security_log'::regclass)`,
    [partitions.map(({ name }) => name)],
  );
  const names = new Set(found.rows.map(({ name }) => name));
  return partitions.filter(({ name }) => names.has(name));
}

/**
 * Creates a partition. ATTACH takes a weaker lock on the log than PARTITION OF, so entries are still written. But it locks
 * the DEFAULT partition exclusively, which every read of the whole log uses. Entries of the week in the DEFAULT partition
 * are moved first, or PostgreSQL would refuse the new one.
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
