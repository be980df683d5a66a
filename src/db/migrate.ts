import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { pause } from '../lib/pause.ts';
import {
  advisoryLocks,
  type Backend,
  describeHolder,
  holdersOf,
  type LockHolder,
  oldestTransactions,
  tryLock,
} from './advisory-locks.ts';
import { contractNote } from './contract.ts';
import { isLockTimeout } from './errors.ts';
import { inTransaction } from './in-transaction.ts';
import { compareHistory, readHistory, warnOfUnknown } from './migration-history.ts';
import { type Migration, readMigrations } from './migrations.ts';
import { explained } from './refused-statement.ts';
import { beginWithoutTimeouts } from './session-settings.ts';
import { DatabaseStartError } from './start-error.ts';

export interface MigrateOptions {
  readonly log: Logger;
  /** Checked before each migration. Applied migrations stay applied. */
  readonly signal?: AbortSignal;
}

/**
 * Applies the pending migrations, each in its own transaction. Any number of processes can call it at the same time: one
 * migrates at a time, and each applies what is left. A migration that needs exclusive use of a table waits until no other
 * transaction, such as a backup, uses it, and delays later requests only briefly.
 * @returns the migrations that this call applied
 * Migrations of later versions are left alone, with a warning.
 * @throws {DatabaseStartError} when the code is too old for the database, a migration changed or failed, or PostgreSQL
 *   refuses a statement
 */
export async function migrate(
  pool: pg.Pool,
  options: MigrateOptions & { readonly migrations?: readonly Migration[] },
): Promise<Migration[]> {
  const migrations = options.migrations ?? (await readMigrations());
  const { log } = options;
  const applied: Migration[] = [];
  await explained(refuseOtherEncodings(pool));
  for (;;) {
    const { migration, unknown } = await explained(applyPatiently(pool, options, migrations));
    if (migration === null) {
      warnOfUnknown(log, unknown);
      return applied;
    }
    log.info({ migration: migration.name }, 'Applied a migration');
    applied.push(migration);
  }
}

/** Only a migration refuses such a database. A backup reads it, so that its data can be moved. */
async function refuseOtherEncodings(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ encoding: string; database: string }>(
    `SELECT current_setting('server_encoding') AS encoding, current_database() AS database`,
  );
  const [found] = rows;
  if (found === undefined || found.encoding === 'UTF8') return;
  throw new DatabaseStartError(
    'encoding',
    `The database "${found.database}" has the encoding ${found.encoding}, which cannot store every text. Create another with ` +
      `CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, and name it in DATABASE_URL; "latchkey backup" and ` +
      '"latchkey restore" move the data.',
  );
}

/** Interval of attempts to take the lock, in milliseconds. A random part is added, so that instances take turns. */
const retryMilliseconds = 50;
/** When to log what is being waited for, in milliseconds. */
const firstWarningAfter = 5_000;
const warningEvery = 30_000;

/**
 * Runs one transaction under the migration lock: no migration runs at the same time, and every service that starts waits
 * for it. Its statements have no timeouts.
 */
export async function withMigrationLock<Result>(
  pool: pg.Pool,
  { log, signal = new AbortController().signal }: MigrateOptions,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const start = performance.now();
  for (let nextWarning = firstWarningAfter; ; ) {
    signal.throwIfAborted();
    const isDue = performance.now() - start >= nextWarning;
    if (isDue) nextWarning += warningEvery;
    const outcome = await inTransaction(
      pool,
      async (client) => {
        if (await tryLock(client, advisoryLocks.migration)) return { result: await work(client) };
        if (isDue) log.warn(describeLockWait(await holdersOf(client, [advisoryLocks.migration])));
        return null;
      },
      beginWithoutTimeouts,
    );
    if (outcome !== null) return outcome.result;
    await pause(retryMilliseconds * (1 + Math.random()), signal);
  }
}

function describeLockWait(holders: readonly LockHolder[]): string {
  const who = holders.map(describeHolder).join(', ') || 'a backend that has just released it';
  return (
    `Waiting for the migration lock (advisory lock ${advisoryLocks.migration}), which is held by ${who}. A migration or ` +
    'a restore may take minutes. An idle backend will not release the lock: end it with pg_terminate_backend.'
  );
}

/** How long a migration waits for a table in use, and so how long requests queue behind it. Then they run first. */
const tableLockTimeout = '2s';
const tableRetryMilliseconds = 1_000;

/**
 * Applies the next migration, and retries while others use what it changes: a backup may read every table for hours, and
 * a lock that waits for it would block every later request.
 */
async function applyPatiently(
  pool: pg.Pool,
  options: MigrateOptions,
  migrations: readonly Migration[],
): Promise<Step> {
  const { log, signal = new AbortController().signal } = options;
  const start = performance.now();
  for (let nextWarning = firstWarningAfter; ; ) {
    try {
      return await withMigrationLock(pool, options, (client) => applyNext(client, migrations));
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
    }
    if (performance.now() - start >= nextWarning) {
      nextWarning += warningEvery;
      log.warn(describeTableWait(await oldestTransactions(pool)));
    }
    await pause(tableRetryMilliseconds, signal);
  }
}

const describeTableWait = (holders: readonly Backend[]): string =>
  `Waiting for other transactions that use what the next migration changes: ${holders.map(describeHolder).join(', ') || 'none is visible now'}. ` +
  'These are the oldest open transactions, for example of a running backup. End a forgotten one with ' +
  'pg_terminate_backend.';

interface Step {
  /** The migration that was applied; null if none was left. */
  readonly migration: Migration | null;
  /** The names of the migrations of later versions. */
  readonly unknown: readonly string[];
}

async function applyNext(client: pg.ClientBase, migrations: readonly Migration[]): Promise<Step> {
  await client.query(`SET LOCAL lock_timeout = '${tableLockTimeout}'`);
  const { pending, unknown } = compareHistory(migrations, await readHistory(client));
  const [migration = null] = pending;
  if (migration !== null) await apply(client, migration);
  return { migration, unknown };
}

async function apply(client: pg.ClientBase, { name, sql, checksum }: Migration): Promise<void> {
  try {
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, logs, started_at)
       VALUES ($1, $2, $3, $4, clock_timestamp())`,
      [randomUUID(), checksum, name, contractNote(sql)],
    );
    await client.query(sql);
    await client.query(
      `UPDATE _prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = 1
       WHERE migration_name = $1 AND finished_at IS NULL AND rolled_back_at IS NULL`,
      [name],
    );
  } catch (error) {
    if (isLockTimeout(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new DatabaseStartError(
      'failed-migration',
      `The migration "${name}" failed and was rolled back: ${reason}. The database is unchanged.`,
      { cause: error },
    );
  }
}
