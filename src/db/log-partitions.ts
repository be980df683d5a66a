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

/** How far ahead partitions are made; the DEFAULT partition takes what comes later than that. */
const weeksAhead = 4;

/**
 * Makes the weekly partitions of the security log from last week to a few weeks ahead. Does nothing where they
 * exist. Call it at start and at least once a week. Several instances may call it at once.
 * @throws {DatabaseStartError} `log-detached` where this week's has been detached; its entries go to the DEFAULT one
 */
export async function ensureLogPartitions(pool: pg.Pool, now: Date): Promise<void> {
  await explained(makeMissing(pool, now, mostAttempts));
  await refuseDetached(pool, now);
}

/** So often a start tries: some seconds, and maintenance tries again within minutes. */
const startAttempts = 5;

/**
 * The same at a start, which others who use the log for hours, as a backup does, hold up only where this week has no
 * partition.
 * @throws {DatabaseStartError} `log-in-use`, `log-detached`, or for a statement that PostgreSQL refuses
 */
export async function startLogPartitions(pool: pg.Pool, now: Date, log: Logger): Promise<void> {
  try {
    await makeMissing(pool, now, startAttempts, () =>
      log.warn("The coming weeks' log partitions wait for other users of the log, for some seconds at most"),
    );
  } catch (error) {
    if (!isLockTimeout(error)) throw asStartError(error);
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
  await patiently(pool, attempts, make, onWait);
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
  await deleteInSlices(pool, 'security_log_default', 'id < $1', lowestId(oldest));
  await forgetIndexed(pool, partitionOf(oldest).start);
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
  onWait: () => void = () => undefined,
): Promise<Result> {
  for (let left = attempts - 1; ; left--) {
    try {
      return await exclusively(pool, async (client) => {
        await client.query(`SET LOCAL lock_timeout = '${aloneWithin}'`);
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

/** Partitions that are missing and whose names no detached table has. */
async function toMake(client: pg.Pool | pg.ClientBase, wanted: LogPartition[]): Promise<LogPartition[]> {
  const lacking = await missing(client, wanted);
  if (lacking.length === 0) return lacking;
  const taken = new Set((await detachedOf(client, lacking)).map(({ name }) => name));
  return lacking.filter(({ name }) => !taken.has(name));
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

/** One transaction under the advisory lock, so that instances take turns. Gives up rather than hold up every writer behind a long transaction. */
const exclusively = <Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> =>
  inTransaction(pool, async (client) => {
    await client.query(`SET LOCAL lock_timeout = '10s'`);
    await client.query(`SELECT pg_advisory_xact_lock(${advisoryLocks.logPartitions})`);
    return work(client);
  });
