import type pg from 'pg';
import { pendingMigrations } from '../../db/migration-history.ts';
import type { Migration } from '../../db/migrations.ts';
import type { BackupHeader } from '../backup/format.ts';
import { columnsOf } from '../backup/snapshot.ts';
import { dataTables } from '../backup/tables.ts';
import { applicationName } from '../database.ts';
import { CommandError } from '../failure.ts';
import { readAppliedMigrations } from '../history.ts';

/**
 * The migrations of this version that had been applied where the backup was made, in the order in which they apply: a
 * backup may list them by a clock that was behind.
 * @throws {CommandError} when this version does not know all of them
 */
export function migrationsOf(header: BackupHeader, migrations: readonly Migration[]): Migration[] {
  for (const { name, checksum } of header.migrations) {
    const ours = migrations.find((migration) => migration.name === name);
    if (ours?.checksum === checksum) continue;
    throw new CommandError(
      ours === undefined
        ? `The backup was made by Latchkey ${header.service}, whose database has the migration "${name}", which this ` +
            'version does not know. Restore it with that version or a later one.'
        : `The backup's database had the migration "${name}" with other contents than this version has. Restore it ` +
            `with the version that made it, ${header.service}.`,
    );
  }
  const had = new Set(header.migrations.map(({ name }) => name));
  return migrations.filter(({ name }) => had.has(name));
}

/**
 * Sees that a backup fills tables of ours alone, each once, and parents before those who refer to them: else whoever
 * writes one could name any table that this user may write to.
 * @throws {CommandError}
 */
export function refuseOtherTables({ tables }: BackupHeader): void {
  const ours: readonly string[] = dataTables;
  let before = -1;
  for (const { name } of tables) {
    const place = ours.indexOf(name);
    if (place <= before) {
      throw new CommandError(
        `The backup has rows for the table ${name} where none of Latchkey's backups has them. Nothing has been ` +
          'restored: use another one.',
      );
    }
    before = place;
  }
}

/**
 * Sees that a database can be restored into: nothing has been stored in it, and it has no migrations, or just these.
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
        `There is data in ${where} (${table.replaceAll('_', ' ')}), and a restore replaces none. Restore into an ` +
          'empty one: create another database on the server, or name another DATA_DIR; to give up what is there, ' +
          'drop the database, or move the folder "postgres" out of DATA_DIR (and leave service-secret).',
      );
    }
  }
  const known = new Set(migrations.map(({ name }) => name));
  if (history.some(({ migration_name: name }) => !known.has(name))) {
    throw new CommandError(
      `Nothing is stored in ${where}, but it has migrations that came after the backup. Restore into a database that ` +
        'no service has been started on; the restore brings it up to date.',
    );
  }
  pendingMigrations(migrations, history);
}

/**
 * Sees that no service uses a database server's database: it would answer from what it has cached.
 * @throws {CommandError}
 */
export async function refuseIfServed(client: pg.ClientBase, where: string): Promise<void> {
  const { rows } = await client.query<{ names: string | null }>(
    `SELECT string_agg(DISTINCT coalesce(host(client_addr), 'this machine'), ', ') AS names FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'latchkey%' AND application_name <> $1`,
    [applicationName],
  );
  const names = rows[0]?.names ?? null;
  if (names === null) return;
  throw new CommandError(`A service is connected to ${where} (from ${names}). Stop it, then restore.`);
}
