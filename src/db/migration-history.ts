import type pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { contractIn } from './contract.ts';
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
  /** What `contractNote` wrote, or Prisma about a failure. */
  readonly logs: string | null;
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
    `SELECT migration_name, checksum, finished_at, logs FROM _prisma_migrations
     WHERE rolled_back_at IS NULL ORDER BY migration_name COLLATE "C"`,
  );
  return rows;
}

/** What this version and a database's history do not share. */
export interface HistoryDifference {
  /** The migrations that the database still needs. */
  readonly pending: readonly Migration[];
  /** The names of the migrations of later versions, which are additive: this version runs without knowing them. */
  readonly unknown: readonly string[];
}

/**
 * Compares the migrations of this version with those of a database.
 * @throws {DatabaseStartError} when a migration is unfinished or was changed, or when a migration of a later version
 *   contracts what this version needs
 */
export function compareHistory(
  migrations: readonly Migration[],
  history: readonly Applied[],
): HistoryDifference {
  const ours = new Map(migrations.map((migration) => [migration.name, migration]));
  const unknown: string[] = [];
  for (const applied of history) {
    const name = applied.migration_name;
    if (applied.finished_at === null) throw unfinished(name);
    const migration = ours.get(name);
    if (migration === undefined) {
      const needed = contractIn(applied.logs);
      if (needed !== null && !ours.has(needed)) throw tooOld(name, needed);
      unknown.push(name);
    } else if (applied.checksum !== migration.checksum) {
      throw changed(name);
    }
  }
  const done = new Set(history.map((applied) => applied.migration_name));
  return { pending: migrations.filter((migration) => !done.has(migration.name)), unknown };
}

/** Warns of migrations of later versions. */
export function warnOfUnknown(log: Pick<Logger, 'warn'>, unknown: readonly string[]): void {
  if (unknown.length === 0) return;
  log.warn(
    { unknown },
    `The database has ${unknown.length} migrations of a later version, which this version does not know. They are ` +
      'additive, so it runs; finish the upgrade, or the rollback, when you can',
  );
}

/**
 * Refuses what needs to know every table and column, such as a backup.
 * @param task such as `make a backup`
 * @throws {DatabaseStartError} when the database has migrations of a later version
 */
export function refuseUnknown({ unknown }: HistoryDifference, task: string): void {
  const [name] = unknown;
  if (name === undefined) return;
  throw new DatabaseStartError(
    'newer-database',
    `The database has the migration "${name}" of a later version, so this version does not know all of the data: ${task} ` +
      'with that version or a later one.',
  );
}

const tooOld = (name: string, needed: string): DatabaseStartError =>
  new DatabaseStartError(
    'newer-database',
    `The database has the migration "${name}", which removed what this version needs: it requires a version that knows ` +
      `the migration "${needed}". Run the version that applied it or a later one, or restore a backup from before the ` +
      'upgrade.',
  );

const unfinished = (name: string): DatabaseStartError =>
  new DatabaseStartError(
    'failed-migration',
    `The migration "${name}" was started on this database and never finished. Check its row in ` +
      '_prisma_migrations, undo or complete its changes, then run ' +
      `"prisma migrate resolve --rolled-back ${name}" (or --applied).`,
  );

const changed = (name: string): DatabaseStartError =>
  new DatabaseStartError(
    'changed-migration',
    `The migration "${name}" was applied to this database with other contents than it has now. An applied ` +
      'migration must never change: restore its file, and write a new migration instead.',
  );
