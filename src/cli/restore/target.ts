import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { compareHistory, readAppliedMigrations } from '../../db/migration-history.ts';
import type { Migration } from '../../db/migrations.ts';
import type { BackupHeader } from '../backup/format.ts';
import { columnsOf } from '../backup/snapshot.ts';
import { dataTables } from '../backup/tables.ts';
import { CommandError } from '../failure.ts';

/**
 * Returns the migrations that the backup's database had, in this version's order: backups of earlier versions list them
 * by time of application.
 * @throws {CommandError} when this version does not know all of them
 */
export function migrationsOf(header: BackupHeader, migrations: readonly Migration[]): Migration[] {
  for (const { name, checksum } of header.migrations) {
    const ours = migrations.find((migration) => migration.name === name);
    if (ours?.checksum === checksum) continue;
    throw new CommandError(
      ours === undefined
        ? `The backup was made by Latchkey ${header.service}, whose migration "${name}" this version does not know. ` +
            'Restore it with that version or a later one.'
        : `The backup's database had the migration "${name}" with other contents than in this version. Restore it with ` +
            `Latchkey ${header.service}, which made it.`,
    );
  }
  const had = new Set(header.migrations.map(({ name }) => name));
  return migrations.filter(({ name }) => had.has(name));
}

/**
 * Checks that a backup fills only tables of the service, each once and in insertion order. Otherwise a crafted backup
 * could write to any table that this user can write to.
 * @throws {CommandError}
 */
export function refuseOtherTables({ tables }: BackupHeader): void {
  const ours: readonly string[] = dataTables;
  let before = -1;
  for (const { name } of tables) {
    const place = ours.indexOf(name);
    if (place <= before) {
      throw new CommandError(
        `The backup has rows for the table ${name} where no Latchkey backup has them. Nothing has been restored: use ` +
          'another backup.',
      );
    }
    before = place;
  }
}

/**
 * Checks that a database can be restored into: it has no data, and no migrations other than the given ones.
 * @throws {CommandError | DatabaseStartError}
 */
export async function refuseUnlessEmpty(
  client: pg.Pool | pg.ClientBase,
  migrations: readonly Migration[],
  where: string,
): Promise<void> {
  const history = await readAppliedMigrations(client);
  if (history.length === 0) return;
  for (const table of dataTables) {
    if ((await columnsOf(client, table)).length === 0) continue;
    const { rows } = await client.query<{ used: boolean }>(`SELECT EXISTS (SELECT FROM ${table}) AS used`);
    if (rows[0]?.used === true) {
      throw new CommandError(
        `There is data in ${where} (${table.replaceAll('_', ' ')}), and a restore replaces no data. Restore into an ` +
          'empty database: create another database on the server, or set another DATA_DIR. To discard the existing ' +
          'data, drop the database, or move the folder "postgres" (but not service-secret) out of DATA_DIR.',
      );
    }
  }
  const known = new Set(migrations.map(({ name }) => name));
  if (history.some(({ migration_name: name }) => !known.has(name))) {
    throw new CommandError(
      `There is no data in ${where}, but it has migrations later than the backup. Restore into a database that no ` +
        'service has been started on; the restore then applies the later migrations.',
    );
  }
  compareHistory(migrations, history);
}

/** How long to wait for connections of processes that have just ended, in milliseconds. */
const waitMilliseconds = 2_000;
const pollMilliseconds = 100;

/**
 * Checks that no one else is connected to a server's database. A running service would answer from its cache, and
 * `application_name` does not identify a service reliably, because the database URL can set it.
 * @param client the only connection of this process
 * @throws {CommandError} naming the other connections
 */
export async function refuseIfServed(client: pg.ClientBase, where: string): Promise<void> {
  let others = await othersOn(client);
  for (let waited = 0; others.length > 0 && waited < waitMilliseconds; waited += pollMilliseconds) {
    await sleep(pollMilliseconds);
    others = await othersOn(client);
  }
  if (others.length === 0) return;
  throw new CommandError(
    `Other clients are connected to ${where}: ${others.join(', ')}. Stop the service and close all other connections, ` +
      'such as psql, connection poolers and monitoring tools; then restore.',
  );
}

/** Descriptions of the other connections. An unprivileged user sees only the user name of another user's connections. */
async function othersOn(client: pg.ClientBase): Promise<string[]> {
  // Otherwise the transaction keeps seeing its first snapshot of pg_stat_activity.
  await client.query('SELECT pg_stat_clear_snapshot()');
  const { rows } = await client.query<{ other: string }>(
    `SELECT DISTINCT concat(
       CASE WHEN application_name <> '' THEN '"' || application_name || '"' ELSE 'a connection' END,
       ' of user "' || usename || '"',
       CASE WHEN backend_type IS NULL THEN '' ELSE ' from ' || coalesce(host(client_addr), 'this machine') END
     ) AS other
     FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()
       AND (backend_type = 'client backend' OR (backend_type IS NULL AND usesysid IS NOT NULL)) ORDER BY 1`,
  );
  return rows.map(({ other }) => other);
}
