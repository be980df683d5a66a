import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { pendingMigrations, readHistory } from './migration-history.ts';
import { type Migration, readMigrations } from './migrations.ts';
import { waitForLocks } from './pool.ts';
import { DatabaseStartError } from './start-error.ts';

/** The key under which `prisma migrate` takes its advisory lock: theirs and ours exclude each other. */
const advisoryLock = 72707369;

export interface MigrateOptions {
  readonly log: Logger;
  /** Heard before each migration: those that have been applied stay. */
  readonly signal?: AbortSignal;
}

/**
 * Brings the database up to this version's migrations, each in a transaction of its own.
 * Any number of processes may do so at once: one works, the others wait and find nothing left to do.
 * @returns the migrations that it applied
 * @throws {DatabaseStartError} when the database is newer than the code, or a migration changed or failed
 */
export async function migrate(
  pool: pg.Pool,
  options: MigrateOptions & { readonly migrations?: readonly Migration[] },
): Promise<Migration[]> {
  const migrations = options.migrations ?? (await readMigrations());
  return whileNobodyMigrates(pool, (client) => applyPending(client, migrations, options));
}

/**
 * Does what must not be done while the database is migrated, and keeps every service that starts on it waiting
 * meanwhile. The connection is its own, and waits for locks as long as it takes.
 */
export async function whileNobodyMigrates<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    // Another process may be at it for minutes.
    await client.query(waitForLocks);
    await client.query(`SELECT pg_advisory_lock(${advisoryLock})`);
    const result = await work(client);
    await client.query(`SELECT pg_advisory_unlock(${advisoryLock})`);
    return result;
  } finally {
    // Closed, not reused: the setting is its session's, and so is the lock when something failed.
    client.release(true);
  }
}

/**
 * Applies what the database lacks, each in a transaction of its own, on a connection of `whileNobodyMigrates`.
 * @returns the migrations that it applied
 * @throws {DatabaseStartError} as `migrate`
 */
export async function applyPending(
  client: pg.ClientBase,
  migrations: readonly Migration[],
  { log, signal }: MigrateOptions,
): Promise<Migration[]> {
  const pending = pendingMigrations(migrations, await readHistory(client));
  for (const migration of pending) {
    signal?.throwIfAborted();
    await apply(client, migration);
    log.info({ migration: migration.name }, 'Applied a migration');
  }
  return pending;
}

async function apply(client: pg.ClientBase, { name, sql, checksum }: Migration): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at) VALUES ($1, $2, $3, clock_timestamp())`,
      [randomUUID(), checksum, name],
    );
    await client.query(sql);
    await client.query(
      `UPDATE _prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = 1
       WHERE migration_name = $1 AND finished_at IS NULL AND rolled_back_at IS NULL`,
      [name],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    const reason = error instanceof Error ? error.message : String(error);
    throw new DatabaseStartError(
      'failed-migration',
      `The migration "${name}" failed and was undone: ${reason}. The database is as it was before it.`,
      { cause: error },
    );
  }
}
