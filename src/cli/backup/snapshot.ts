import type pg from 'pg';
import { compareHistory, readAppliedMigrations, refuseUnknown } from '../../db/migration-history.ts';
import type { Migration } from '../../db/migrations.ts';
import { isNotUnderWay } from '../../db/mint-under-way.ts';
import { CommandError } from '../failure.ts';
import type { BackupHeader, BackupTable } from './format.ts';
import { dataTables } from './tables.ts';

/**
 * Runs `work` in a read-only transaction on one snapshot: its reads are consistent while others write, and block no one.
 */
export async function inSnapshot<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    const tables = await tablesThere(client);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await client.query('SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0');
    // The first query takes the snapshot, so the lock comes first: in a snapshot from before a migration rewrote a
    // table, that table is empty.
    if (tables.length > 0) await client.query(`LOCK TABLE ${tables.join(', ')} IN ACCESS SHARE MODE`);
    // The reader of the output may be slow, and a large table takes time.
    await client.query(
      `SELECT set_config(name, '0', true) FROM pg_settings
       WHERE name IN ('idle_in_transaction_session_timeout', 'statement_timeout', 'transaction_timeout')`,
    );
    // Fails on rows that a policy hides from this user, instead of omitting them.
    await client.query(`SET LOCAL bytea_output = 'hex'; SET LOCAL row_security = off`);
    return await work(client);
  } finally {
    // Closing the connection ends its transaction in every case.
    client.release(true);
  }
}

/** The tables of the service that exist. A database of an earlier version lacks some. */
async function tablesThere(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL',
    [['_prisma_migrations', ...dataTables]],
  );
  return rows.map(({ name }) => name);
}

/**
 * Lists the tables to back up, with their columns and row counts.
 * @throws {DatabaseStartError | CommandError} when this is not a database of this or an earlier version
 */
export async function surveySnapshot(
  client: pg.ClientBase,
  migrations: readonly Migration[],
): Promise<Pick<BackupHeader, 'createdAt' | 'migrations' | 'tables'>> {
  const history = await readAppliedMigrations(client);
  if (history.length === 0) {
    throw new CommandError('The database has no Latchkey tables: check DATABASE_URL or DATA_DIR.');
  }
  // A later version may have tables that this one would leave out.
  refuseUnknown(compareHistory(migrations, history), 'make the backup');
  const { rows } = await client.query<{ now: Date }>('SELECT now() AS now');
  const tables: BackupTable[] = [];
  for (const name of dataTables) {
    const columns = await columnsOf(client, name);
    // A database of an earlier version lacks some tables.
    if (columns.length > 0)
      tables.push({ name, columns, rows: await countRows(client, await sourceOf(client, name)) });
  }
  return {
    createdAt: (rows[0]?.now ?? new Date()).toISOString(),
    migrations: history.map(({ migration_name: name, checksum }) => ({ name, checksum })),
    tables,
  };
}

/** The columns of a table, without generated ones; none if the table does not exist. */
export async function columnsOf(client: pg.Pool | pg.ClientBase, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
     WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`,
    [table],
  );
  return rows.map(({ name }) => name);
}

/** @param from a table, optionally with a WHERE clause */
export async function countRows(client: pg.Pool | pg.ClientBase, from: string): Promise<number> {
  const { rows } = await client.query<{ count: string }>(`SELECT count(*) AS count FROM ${from}`);
  return Number(rows[0]?.count);
}

/**
 * The FROM clause for a table's rows. A process that died during a mint leaves licenses that were never shown to anyone,
 * and the next start deletes them. A backup leaves them out, because a restore could not tell them apart.
 */
async function sourceOf(client: pg.ClientBase, table: string): Promise<string> {
  // In earlier versions a mint left nothing behind.
  const mayHide = table === 'licenses' && (await columnsOf(client, 'mint_under_way')).length > 0;
  return mayHide ? `${table} WHERE ${isNotUnderWay}` : table;
}

/** The approximate size of a batch. */
const batchBytes = 512 * 1024;
const maxBatchRows = 2_000;

/** Reads the rows of a table as PostgreSQL's own JSON text, in batches of bounded size. */
export async function* rowsOf(
  client: pg.ClientBase,
  { name, columns }: BackupTable,
): AsyncGenerator<readonly string[]> {
  await client.query(
    `DECLARE backup NO SCROLL CURSOR FOR SELECT row_to_json(line)::text FROM (SELECT ${columns.join(', ')} FROM ${await sourceOf(client, name)}) line`,
  );
  let wanted = 100;
  for (;;) {
    const { rows } = await client.query<[string]>({ text: `FETCH ${wanted} FROM backup`, rowMode: 'array' });
    if (rows.length === 0) break;
    const batch = rows.map(([row]) => row);
    yield batch;
    const average = batch.reduce((sum, row) => sum + row.length, 0) / batch.length;
    wanted = Math.min(maxBatchRows, Math.max(1, Math.floor(batchBytes / average)));
  }
  await client.query('CLOSE backup');
}
