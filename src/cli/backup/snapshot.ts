import type pg from 'pg';
import { pendingMigrations, readAppliedMigrations } from '../../db/migration-history.ts';
import type { Migration } from '../../db/migrations.ts';
import { isNotUnderWay } from '../../db/mint-under-way.ts';
import { CommandError } from '../failure.ts';
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
    const tables = await tablesThere(client);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await client.query('SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0');
    // The first query takes the snapshot, so the lock comes first: in a snapshot from before a migration rewrote a
    // table, that table is empty.
    if (tables.length > 0) await client.query(`LOCK TABLE ${tables.join(', ')} IN ACCESS SHARE MODE`);
    // Whoever takes the output may be slow, and a large table takes its time.
    await client.query(
      `SELECT set_config(name, '0', true) FROM pg_settings
       WHERE name IN ('idle_in_transaction_session_timeout', 'statement_timeout', 'transaction_timeout')`,
    );
    // Fails on rows that a policy hides from this user, instead of omitting them.
    await client.query(`SET LOCAL bytea_output = 'hex'; SET LOCAL row_security = off`);
    return await work(client);
  } finally {
    // Closed, not reused, so that its transaction ends whatever has happened.
    client.release(true);
  }
}

/** Those of our tables that exist: an earlier version did not have all of them. */
async function tablesThere(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL',
    [['_prisma_migrations', ...dataTables]],
  );
  return rows.map(({ name }) => name);
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
    if (columns.length > 0)
      tables.push({ name, columns, rows: await countRows(client, await wholeOf(client, name)) });
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

/** @param from a table, optionally with a WHERE clause */
export async function countRows(client: pg.Pool | pg.ClientBase, from: string): Promise<number> {
  const { rows } = await client.query<{ count: string }>(`SELECT count(*) AS count FROM ${from}`);
  return Number(rows[0]?.count);
}

/**
 * What to read of a table. A process that ended during a mint leaves licenses that were never shown and that the next start
 * deletes. A backup does not mark them, so a restore would show them all: it leaves them out.
 */
async function wholeOf(client: pg.ClientBase, table: string): Promise<string> {
  // An earlier version's mints leave nothing.
  const mayHide = table === 'licenses' && (await columnsOf(client, 'mint_under_way')).length > 0;
  return mayHide ? `${table} WHERE ${isNotUnderWay}` : table;
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
    `DECLARE backup NO SCROLL CURSOR FOR SELECT row_to_json(line)::text FROM (SELECT ${columns.join(', ')} FROM ${await wholeOf(client, name)}) line`,
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
