import pg from 'pg';
import { hasSecretFingerprint } from '../../db/installation.ts';
import { change } from '../../services/changes/change.ts';
import type { OpenBackup } from '../backup/read.ts';
import { columnsOf, countRows } from '../backup/snapshot.ts';
import { derivedTables } from '../backup/tables.ts';
import { CommandError } from '../failure.ts';

/** Rows between two checkpoints. The embedded database has no checkpointer, and keeps its whole WAL until a checkpoint. */
const checkpointEvery = 50_000;

export interface Insertion {
  readonly kind: 'embedded' | 'server';
  readonly signal: AbortSignal;
  onRows(count: number): void;
}

/**
 * Inserts a backup in the caller's transaction, so that a failure leaves the database empty. Triggers fill the derived
 * tables, and foreign keys are enforced.
 * @param client in a transaction, on a database that has the backup's migrations and no data
 * @throws {CommandError} when PostgreSQL rejects rows, or the row counts differ from the backup's header
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
      throw new CommandError(
        `The table ${name} has ${count} rows after the restore instead of ${rows}. Nothing has been restored.`,
      );
    }
    // The planner has statistics from the first query, without waiting for autovacuum.
    await client.query(`ANALYZE ${name}`);
  }
  if (header.tables.some(({ name }) => name === 'events')) await client.query(continuePositions);
  await raiseRevocationCounters(client);
  await invalidateCaches(client);
  await clearSecretFingerprint(client);
}

/** New events get higher positions than those of the backup, some of which may have no number yet. */
const continuePositions = `
  SELECT setval(pg_get_serial_sequence('events', 'position'), max(position)) FROM events HAVING count(*) > 0`;

/** Explains why PostgreSQL rejected rows. Rows are not the cause of other errors, such as a lost connection. */
function refusedRows(which: string, error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  return new CommandError(`${which} cannot be restored: ${error.message}. Nothing has been restored.`, {
    cause: error,
  });
}

/**
 * Deletes counts and search data left by earlier rows: TRUNCATE fires no row triggers, so they can outlive the rows, and
 * the triggers would add the backup's counts to them.
 */
async function deleteDerived(client: pg.ClientBase): Promise<void> {
  for (const table of derivedTables) {
    // A backup of an earlier version restores into a database that lacks some of them.
    if ((await columnsOf(client, table)).length > 0) await client.query(`DELETE FROM ${table}`);
  }
}

/**
 * Raises the revocation counter of every application above what it was before the restore: clients refuse leases and lists
 * with a lower one. The counter may have risen after the backup, but never beyond the seconds since the Unix epoch, unless
 * there were revocations every second. Sequence numbers of leases need no change: each is at least the current time.
 */
async function raiseRevocationCounters(client: pg.ClientBase): Promise<void> {
  // Earlier versions do not have this table.
  if ((await columnsOf(client, 'revocation_counters')).length === 0) return;
  await client.query(
    `INSERT INTO revocation_counters AS counters (application_id, rev)
     SELECT id, floor(extract(epoch FROM clock_timestamp()))::bigint FROM applications
     ON CONFLICT (application_id) DO UPDATE SET rev = greatest(counters.rev + 1, excluded.rev)`,
  );
}

/** Tells a service that connected during the restore to drop everything that it has cached. */
async function invalidateCaches(client: pg.ClientBase): Promise<void> {
  // Earlier versions do not have this table.
  if ((await columnsOf(client, 'cache_changes')).length === 0) return;
  await client.query(
    `INSERT INTO cache_changes (cache, keys) SELECT cache, '"all"' FROM unnest($1::text[]) AS cache`,
    [change.shape.cache.options],
  );
}

/** Removes the fingerprint of the master secret of an earlier service, which may differ from the backup's. */
async function clearSecretFingerprint(client: pg.ClientBase): Promise<void> {
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
    `The table ${table} has the columns ${columns.join(', ')} in the backup, but ${there.join(', ')} in the database. ` +
      'Nothing has been restored.',
  );
}
