import type pg from 'pg';
import { pendingMigrations } from '../../db/migration-history.ts';
import type { Migration } from '../../db/migrations.ts';
import { CommandError } from '../failure.ts';
import { readAppliedMigrations } from '../history.ts';
import type { BackupHeader, BackupTable } from './format.ts';
import { dataTables } from './tables.ts';

/**
 * Reads from one snapshot of the database, so that all of what is read belongs together while others write. Nothing is
 * changed, and nobody is held up.
 */
export async function inSnapshot<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    // Whoever takes the output may be slow, and a large table takes its time.
    await client.query(
      `SELECT set_config(name, '0', true) FROM pg_settings
       WHERE name IN ('idle_in_transaction_session_timeout', 'statement_timeout', 'transaction_timeout')`,
    );
    await client.query(`SET LOCAL bytea_output = 'hex'`);
    return await work(client);
  } finally {
    // Closed, not reused, so that its transaction ends whatever has happened.
    client.release(true);
  }
}

/**
 * What there is to back up.
 * @throws {DatabaseStartError | CommandError} when it is no database of this version or an earlier one
 */
export async function surveySnapshot(
  client: pg.ClientBase,
  migrations: readonly Migration[],
): Promise<Pick<BackupHeader, 'createdAt' | 'migrations' | 'tables'>> {
  const history = await readAppliedMigrations(client);
  if (history.length === 0) {
    throw new CommandError('The database holds nothing of Latchkey: check DATABASE_URL or DATA_DIR.');
  }
  pendingMigrations(migrations, history);
  const { rows } = await client.query<{ now: Date }>('SELECT now() AS now');
  const tables: BackupTable[] = [];
  for (const name of dataTables) {
    const columns = await columnsOf(client, name);
    // An earlier version did not have all of them.
    if (columns.length > 0) tables.push({ name, columns, rows: await countRows(client, name) });
  }
  return {
    createdAt: (rows[0]?.now ?? new Date()).toISOString(),
    migrations: history.map(({ migration_name: name, checksum }) => ({ name, checksum })),
    tables,
  };
}

/** The columns of a table that hold what was written to them, and not what PostgreSQL computes. */
export async function columnsOf(client: pg.Pool | pg.ClientBase, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
     WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`,
    [table],
  );
  return rows.map(({ name }) => name);
}

export async function countRows(client: pg.Pool | pg.ClientBase, table: string): Promise<number> {
  const { rows } = await client.query<{ count: string }>(`SELECT count(*) AS count FROM ${table}`);
  return Number(rows[0]?.count);
}

/** So many bytes of rows are asked for at once, roughly. */
const batchBytes = 512 * 1024;
const mostRowsAtOnce = 2_000;

/** The rows of a table as PostgreSQL's own JSON, a text each, in batches that take bounded memory. */
export async function* rowsOf(
  client: pg.ClientBase,
  { name, columns }: BackupTable,
): AsyncGenerator<readonly string[]> {
  await client.query(
    `DECLARE backup NO SCROLL CURSOR FOR SELECT row_to_json(line)::text FROM (SELECT ${columns.join(', ')} FROM ${name}) line`,
  );
  let wanted = 100;
  for (;;) {
    const { rows } = await client.query<[string]>({ text: `FETCH ${wanted} FROM backup`, rowMode: 'array' });
    if (rows.length === 0) break;
    const batch = rows.map(([row]) => row);
    yield batch;
    const average = batch.reduce((sum, row) => sum + row.length, 0) / batch.length;
    wanted = Math.min(mostRowsAtOnce, Math.max(1, Math.floor(batchBytes / average)));
  }
  await client.query('CLOSE backup');
}
