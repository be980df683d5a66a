import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { advisoryLocks } from './advisory-locks.ts';
import { deleteInSlices } from './delete-in-slices.ts';
import { isLockTimeout } from './errors.ts';
import { inTransaction } from './in-transaction.ts';
import { type LogPartition, type LogPartitionUnit, lowestId } from './log-partition.ts';
import { detachedOf, namesWithRows, readLogPartitions, takenNames } from './log-partition-catalog.ts';
import { gapAt, type PartitionPlan, planPartitions } from './log-partition-plan.ts';
import { forgetIndexed } from './log-search/forget.ts';
import { asStartError, explained } from './refused-statement.ts';
import { DatabaseStartError } from './start-error.ts';

/**
 * Creates the missing partitions of the security log, from the last week or day to some ahead, and replaces empty future
 * ones of the other unit. Call it at start and at least once a week. Several instances can call it at the same time, also
 * with different units.
 * @throws {DatabaseStartError} `log-detached` if the partition of `now` is detached: its entries go to the DEFAULT one
 */
export async function ensureLogPartitions(
  pool: pg.Pool,
  now: Date,
  unit: LogPartitionUnit = 'week',
): Promise<void> {
  await explained(makeMissing(pool, { now: now.getTime(), unit, attempts: maxAttempts }));
  await refuseDetached(pool, now, unit);
}

/** Attempts of a start: a few seconds. Maintenance tries again within minutes. */
const startAttempts = 5;

/**
 * `ensureLogPartitions` for a start. If others use the log for a long time, such as a backup, the start fails only if the
 * partition of `now` is missing.
 * @throws {DatabaseStartError} `log-in-use`, `log-detached`, or for a statement that PostgreSQL refuses
 */
export async function startLogPartitions(
  pool: pg.Pool,
  now: Date,
  log: Logger,
  unit: LogPartitionUnit = 'week',
): Promise<void> {
  const onWait = () =>
    log.warn('Waiting a few seconds for other users of the security log before creating partitions');
  try {
    await makeMissing(pool, { now: now.getTime(), unit, attempts: startAttempts, onWait });
  } catch (error) {
    if (!isLockTimeout(error)) throw asStartError(error);
    const gap = gapAt(now.getTime(), unit, await readLogPartitions(pool));
    if (gap === null) {
      log.warn('Postponed log partitions of the coming weeks: the log is in use, for example by a backup');
      return;
    }
    throw new DatabaseStartError(
      'log-in-use',
      `The security log has no partition for ${present[unit]} (${gap.name}), and it cannot be created while the log is in ` +
        'use, for example by a backup or a transaction that was left open: start again when they have ended.',
      { cause: error },
    );
  }
  await explained(refuseDetached(pool, now, unit));
}

const present = { week: 'this week', day: 'today' } as const;

/**
 * An administrator may have detached a week from the log, for example to archive it. That is fine for a past week. Without
 * a partition for the present, entries go to the DEFAULT one, which is searched and emptied row by row.
 */
async function refuseDetached(pool: pg.Pool, now: Date, unit: LogPartitionUnit): Promise<void> {
  const gap = gapAt(now.getTime(), unit, await readLogPartitions(pool));
  const [detached] = gap === null ? [] : await detachedOf(pool, [gap]);
  if (detached === undefined) return;
  const { name, from, to } = detached;
  throw new DatabaseStartError(
    'log-detached',
    `The security log has no partition for ${present[unit]}: the table ${name} exists but is not attached to the log. Attach it ` +
      `(ALTER TABLE security_log ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')), or rename it.`,
  );
}

interface Making {
  readonly now: number;
  readonly unit: LogPartitionUnit;
  readonly attempts: number;
  readonly onWait?: () => void;
}

async function makeMissing(pool: pg.Pool, { now, unit, attempts, onWait }: Making): Promise<void> {
  // Which partitions are used is read under the lock: until then, another instance may drop one of them.
  if (isDone(planPartitions({ now, unit, existing: await readLogPartitions(pool) }))) return;
  const make = async (client: pg.PoolClient): Promise<void> => {
    let { drop, create } = await plan(client, now, unit);
    if (drop.length > 0) {
      // The log before its partitions, in the order in which readers lock them. No entry is written from here on.
      await client.query('LOCK TABLE ONLY security_log IN ACCESS EXCLUSIVE MODE');
      ({ drop, create } = await plan(client, now, unit));
    }
    for (const { name } of drop) await client.query(`DROP TABLE ${client.escapeIdentifier(name)}`);
    for (const partition of create) await createPartition(client, partition);
  };
  await retryWhileInUse(pool, attempts, make, onWait);
}

const isDone = ({ drop, create }: PartitionPlan): boolean => drop.length === 0 && create.length === 0;

async function plan(client: pg.ClientBase, now: number, unit: LogPartitionUnit): Promise<PartitionPlan> {
  const existing = await readLogPartitions(client);
  const candidates = planPartitions({ now, unit, existing }).drop.map(({ name }) => name);
  const used = await namesWithRows(client, candidates);
  const { drop, create } = planPartitions({ now, unit, existing, used });
  // A detached table may have a name: its partition is left out.
  const taken =
    create.length === 0
      ? new Set()
      : await takenNames(
          client,
          create.map(({ name }) => name),
        );
  return { drop, create: create.filter(({ name }) => !taken.has(name)) };
}

/**
 * Drops partitions whose entries are all older than `retentionDays`, and then deletes what `deleteExpiredEntries` does.
 * @returns the names of the dropped partitions
 */
export async function dropExpiredLogPartitions(
  pool: pg.Pool,
  now: Date,
  retentionDays: number,
): Promise<string[]> {
  const oldest = oldestKept(now, retentionDays);
  const dropped: string[] = [];
  for (const { name, end } of await readLogPartitions(pool)) {
    if (end <= oldest && (await drop(pool, name))) dropped.push(name);
  }
  await deleteExpiredEntries(pool, now, retentionDays);
  return dropped;
}

/** Deletes entries that are older than `retentionDays` from the DEFAULT partition, and the search data of dropped ones. */
export async function deleteExpiredEntries(pool: pg.Pool, now: Date, retentionDays: number): Promise<void> {
  const oldest = oldestKept(now, retentionDays);
  await deleteInSlices(pool, 'security_log_default', 'id < $1', lowestId(oldest));
  const starts = (await readLogPartitions(pool)).map(({ start }) => start);
  await forgetIndexed(pool, Math.max(0, Math.min(oldest, ...starts)));
}

const oldestKept = (now: Date, retentionDays: number): number =>
  now.getTime() - retentionDays * 24 * 60 * 60 * 1000;

/**
 * Drops a partition in its own transaction. It briefly locks the whole log exclusively, and while it waits for that lock,
 * later statements on the log wait too. (DETACH CONCURRENTLY avoids this, but does not work with a DEFAULT partition.)
 * @returns false if the partition no longer exists
 */
const drop = (pool: pg.Pool, name: string): Promise<boolean> =>
  retryWhileInUse(pool, maxAttempts, async (client) => {
    const existing = await readLogPartitions(client);
    if (!existing.some((each) => each.name === name)) return false;
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

/**
 * Creates a partition. ATTACH takes a weaker lock on the log than PARTITION OF, so entries are still written. But it locks
 * the DEFAULT partition exclusively, which every read of the whole log uses. Entries of the range in the DEFAULT partition
 * are moved first, or PostgreSQL would refuse the new one.
 */
async function createPartition(client: pg.ClientBase, { name, from, to }: LogPartition): Promise<void> {
  await client.query(`CREATE TABLE ${name} (LIKE security_log INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`);
  await client.query(
    `WITH moved AS (DELETE FROM security_log_default WHERE id >= '${from}' AND id < '${to}' RETURNING *)
     INSERT INTO ${name} SELECT * FROM moved`,
  );
  await client.query(
    `ALTER TABLE security_log ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`,
  );
}
