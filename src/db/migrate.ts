import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { type Migration, readMigrations } from './migrations.ts';
import { DatabaseStartError } from './start-error.ts';

/** The key under which `prisma migrate` takes its advisory lock: theirs and ours exclude each other. */
const advisoryLock = 72707369;

/** As `prisma migrate` creates it, so that either continues the other's work. */
const createHistory = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id                  VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum            VARCHAR(64) NOT NULL,
    finished_at         TIMESTAMPTZ,
    migration_name      VARCHAR(255) NOT NULL,
    logs                TEXT,
    rolled_back_at      TIMESTAMPTZ,
    started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`;

export interface Applied {
  readonly migration_name: string;
  readonly checksum: string;
  readonly finished_at: Date | null;
}

/**
 * Brings the database up to this version's migrations, each in a transaction of its own.
 * Any number of processes may do so at once: one works, the others wait and find nothing left to do.
 * @throws {DatabaseStartError} when the database is newer than the code, or a migration changed or failed
 */
export async function migrate(
  pool: pg.Pool,
  options: { readonly log: Logger; readonly migrations?: readonly Migration[] },
): Promise<void> {
  const migrations = options.migrations ?? (await readMigrations());
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query(`SELECT pg_advisory_lock(${advisoryLock})`);
    const pending = pendingMigrations(migrations, await readHistory(client));
    for (const migration of pending) {
      await apply(client, migration);
      options.log.info({ migration: migration.name }, 'Applied a migration');
    }
    await client.query(`SELECT pg_advisory_unlock(${advisoryLock})`);
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    // A failed connection is closed, not reused: the lock is its session's and ends with it.
    client.release(failure);
  }
}

async function readHistory(client: pg.ClientBase): Promise<Applied[]> {
  const found = await client.query<{ history: string | null }>(
    `SELECT to_regclass('_prisma_migrations') AS history`,
  );
  if (found.rows[0]?.history === null) await client.query(createHistory);
  const history = await client.query<Applied>(
    `SELECT migration_name, checksum, finished_at FROM _prisma_migrations
     WHERE rolled_back_at IS NULL ORDER BY started_at`,
  );
  return history.rows;
}

/**
 * What is left to apply, given the database's history.
 * @throws {DatabaseStartError} when the history is not a beginning of ours
 */
export function pendingMigrations(
  migrations: readonly Migration[],
  history: readonly Applied[],
): Migration[] {
  const ours = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const applied of history) {
    const name = applied.migration_name;
    const migration = ours.get(name);
    if (migration === undefined) {
      throw new DatabaseStartError(
        'newer-database',
        `The database has the migration "${name}", which this version does not know: a newer version has ` +
          'opened it. Run that version or a later one, or restore a backup from before the upgrade.',
      );
    }
    if (applied.finished_at === null) {
      throw new DatabaseStartError(
        'failed-migration',
        `The migration "${name}" was started on this database and never finished. Look at its row in ` +
          '_prisma_migrations, undo or complete what it did, then run ' +
          `"prisma migrate resolve --rolled-back ${name}" (or --applied).`,
      );
    }
    if (applied.checksum !== migration.checksum) {
      throw new DatabaseStartError(
        'changed-migration',
        `The migration "${name}" was applied to this database with other contents than it has now. An applied ` +
          'migration must never change: restore its file, and write a new migration instead.',
      );
    }
  }
  const done = new Set(history.map((applied) => applied.migration_name));
  return migrations.filter((migration) => !done.has(migration.name));
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
