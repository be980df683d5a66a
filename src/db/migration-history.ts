import type pg from 'pg';
import type { Migration } from './migrations.ts';
import { DatabaseStartError } from './start-error.ts';

/** The table of `prisma migrate`, so that it and this service recognize each other's migrations. */
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

/** A row of `_prisma_migrations` that was not rolled back. */
export interface Applied {
  readonly migration_name: string;
  readonly checksum: string;
  readonly finished_at: Date | null;
}

/** The migrations that the database lists, in order. Creates the table if it is missing. */
export async function readHistory(client: pg.ClientBase): Promise<Applied[]> {
  if (!(await hasHistory(client))) await client.query(createHistory);
  return readRows(client);
}

/** The migrations that the database lists, without changing it; none if there is no table. */
export const readAppliedMigrations = async (client: pg.Pool | pg.ClientBase): Promise<Applied[]> =>
  (await hasHistory(client)) ? readRows(client) : [];

async function hasHistory(client: pg.Pool | pg.ClientBase): Promise<boolean> {
  const found = await client.query<{ exists: boolean }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists`,
  );
  return found.rows[0]?.exists === true;
}

/** Sorted by name, the order in which migrations apply. A clock that was set back would change the order by time. */
async function readRows(client: pg.Pool | pg.ClientBase): Promise<Applied[]> {
  const { rows } = await client.query<Applied>(
    `SELECT migration_name, checksum, finished_at FROM _prisma_migrations
     WHERE rolled_back_at IS NULL ORDER BY migration_name COLLATE "C"`,
  );
  return rows;
}

/**
 * Returns the migrations that a database with this history still needs.
 * @throws {DatabaseStartError} when the history has an unknown, unfinished or changed migration
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
        `The migration "${name}" was started on this database and never finished. Check its row in ` +
          '_prisma_migrations, undo or complete its changes, then run ' +
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
