import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { pendingMigrations, readAppliedMigrations } from '../../db/migration-history.ts';
import type { Migration } from '../../db/migrations.ts';
import type { BackupHeader } from '../backup/format.ts';
import { columnsOf } from '../backup/snapshot.ts';
import { dataTables } from '../backup/tables.ts';
import { CommandError } from '../failure.ts';

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

/** So long the connections of who has just ended are waited for, in milliseconds. */
const goneWithin = 2_000;
const lookEvery = 100;

/**
 * Sees that nobody else is connected to a database server's database. A service would answer from what it has cached;
 * and by the name of a connection alone, which its address can set, no service can be told from what is none.
 * @param client the only connection of this process
 * @throws {CommandError}
 */
export async function refuseIfServed(client: pg.ClientBase, where: string): Promise<void> {
  let others = await othersOn(client);
  for (let waited = 0; others.length > 0 && waited < goneWithin; waited += lookEvery) {
    await sleep(lookEvery);
    others = await othersOn(client);
  }
  if (others.length === 0) return;
  throw new CommandError(
    `Others are connected to ${where}: ${others.join(', ')}. Stop the service, and end what else is connected, as a ` +
      'terminal, a pool of connections or a tool that watches; then restore.',
  );
}

/** Who they are, for people. Of another user's connection, a user without rights to see them learns the user alone. */
async function othersOn(client: pg.ClientBase): Promise<string[]> {
  // Else a transaction goes on seeing those whom it has seen first.
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
