import pg from 'pg';
import { hasSecretFingerprint } from '../../db/installation.ts';
import { change } from '../../services/changes/change.ts';
import type { OpenBackup } from '../backup/read.ts';
import { columnsOf, countRows } from '../backup/snapshot.ts';
import { derivedTables } from '../backup/tables.ts';
import { CommandError } from '../failure.ts';

/** So many rows make a checkpoint due where nothing else does it: an embedded database keeps all of its log till then. */
const checkpointEvery = 50_000;

export interface Insertion {
  readonly kind: 'embedded' | 'server';
  readonly signal: AbortSignal;
  onRows(count: number): void;
}

/**
 * Inserts a backup in its caller's transaction: whatever ends that early, the database is as empty as it was. Triggers
 * make what is derived from the rows, and foreign keys hold.
 * @param client in a transaction on a database that has the backup's migrations and no data
 * @throws {CommandError} when what is there in the end is not what the backup says
 */
export async function insertBackup(
  client: pg.ClientBase,
  { header, batches }: OpenBackup,
  { kind, signal, onRows }: Insertion,
): Promise<void> {
  await client.query(
    `SELECT set_config(name, '0', true) FROM pg_settings
     WHERE name IN ('idle_in_transaction_session_timeout', 'statement_timeout', 'transaction_timeout')`,
  );
  for (const { name, columns } of header.tables) await refuseOtherColumns(client, name, columns);
  await deleteDerived(client);
  let sinceCheckpoint = 0;
  for await (const { table, rows, from } of batches) {
    signal.throwIfAborted();
    const columns = table.columns.join(', ');
    const inserting = client.query(
      `INSERT INTO ${table.name} (${columns}) OVERRIDING SYSTEM VALUE
       SELECT ${columns} FROM json_populate_recordset(NULL::${table.name}, $1::json)`,
      [`[${rows.join(',')}]`],
    );
    await inserting.catch((error: unknown) => {
      throw refusedRows(`Rows ${from} to ${from + rows.length - 1} of the table ${table.name}`, error);
    });
    onRows(rows.length);
    sinceCheckpoint += rows.length;
    if (kind === 'embedded' && sinceCheckpoint >= checkpointEvery) {
      await client.query('CHECKPOINT');
      sinceCheckpoint = 0;
    }
  }
  for (const { name, rows } of header.tables) {
    const count = await countRows(client, name);
    if (count !== rows) {
      throw new CommandError(`${name} has ${count} rows and not ${rows}: nothing has been restored.`);
    }
    // Seen by the planner together with the rows, and not a minute later.
    await client.query(`ANALYZE ${name}`);
  }
  await forgetCached(client);
  await forgetSecret(client);
}

/** Explains why PostgreSQL rejected rows. Rows are not the cause of other errors, such as a lost connection. */
function refusedRows(which: string, error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  return new CommandError(`${which} cannot be restored: ${error.message}. Nothing has been restored.`, {
    cause: error,
  });
}

/**
 * A database whose data were emptied by TRUNCATE, for which no trigger of rows fires, has counts and search data of what
 * it held: those of the backup's rows would be added to them.
 */
async function deleteDerived(client: pg.ClientBase): Promise<void> {
  for (const table of derivedTables) {
    // An earlier version did not have all of them.
    if ((await columnsOf(client, table)).length > 0) await client.query(`DELETE FROM ${table}`);
  }
}

/** A service that has connected meanwhile reads in the database that all of what it has cached is another's. */
async function forgetCached(client: pg.ClientBase): Promise<void> {
  // An earlier version's services have nothing to read it in.
  if ((await columnsOf(client, 'cache_changes')).length === 0) return;
  await client.query(
    `INSERT INTO cache_changes (cache, keys) SELECT cache, '"all"' FROM unnest($1::text[]) AS cache`,
    [change.shape.cache.options],
  );
}

/** A service that was started on this database has recorded its master secret, which may differ from the backup's. */
async function forgetSecret(client: pg.ClientBase): Promise<void> {
  if (!(await hasSecretFingerprint(client))) return;
  await client.query('UPDATE installation SET secret_fingerprint = NULL');
}

async function refuseOtherColumns(
  client: pg.ClientBase,
  table: string,
  columns: readonly string[],
): Promise<void> {
  const there = await columnsOf(client, table);
  if (there.toSorted().join() === columns.toSorted().join()) return;
  throw new CommandError(
    `The backup's table ${table} has the columns ${columns.join(', ')}, and the database's has ${there.join(', ')}. ` +
      'Nothing has been restored.',
  );
}
