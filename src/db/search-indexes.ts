import type pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { buildIndexes, type WantedIndex } from './build-indexes.ts';
import { queryWithoutTimeout } from './in-transaction.ts';
import { schema } from './session-settings.ts';

/** The text that searches of a table match against, as SQL: it contains the text of each column. */
export const searchedText = {
  licenses: joined(['licenses.key_prefix', 'licenses.note', 'licenses.hwid', 'licenses.last_ip']),
  end_users: joined(['end_users.username', 'end_users.email', 'end_users.last_ip', 'end_users.last_hwid']),
  /** The distinct texts in the entries of a log (log-search). */
  log_search_values: 'log_search_values.value',
} as const;

function joined(columns: readonly string[]): string {
  return `(${columns.map((column) => `coalesce(${column}, '')`).join(` || E'\\n' || `)})`;
}

const searchIndexName = (table: string): string => `${table}_search_idx`;

/**
 * The indexes include the application next to the trigrams: an index covers the whole table, and a text that is rare in
 * one application may be in every row of another.
 * @param extensions the schema of pg_trgm, which the server's administrator chooses
 */
const searchIndexes = (extensions: string): readonly WantedIndex[] =>
  Object.entries(searchedText).map(([table, text]) => ({
    name: searchIndexName(table),
    table,
    // The size of the pending list, in kilobytes: a mint of ten thousand keys fits without a merge into the index.
    definition: `gin (application_id, (${text}) ${extensions}.gin_trgm_ops) WITH (gin_pending_list_limit = 8192)`,
  }));

/**
 * Builds missing search indexes. Without them, searches return the same results but read more rows. Call it at start
 * without waiting for it.
 * @returns the names of the indexes that were built
 */
export async function buildSearchIndexes(pool: pg.Pool, log: Logger, stop?: AbortSignal): Promise<string[]> {
  for (const extension of ['pg_trgm', 'btree_gin']) {
    try {
      await ensureExtension(pool, extension);
    } catch (error) {
      log.warn(
        { err: error },
        `The database has no extension ${extension}, so searches read whole lists. Install PostgreSQL's contrib modules, ` +
          `run CREATE EXTENSION ${extension} as the database's owner, then start again.`,
      );
      return [];
    }
  }
  return buildIndexes(pool, searchIndexes(await schemaOf(pool, 'pg_trgm')), stop);
}

/**
 * Merges pending entries into the indexes, because each search scans them. Call it about once a minute, and on an embedded
 * database after each part of a large change: a merge that PostgreSQL begins itself, when the list is full, takes a second.
 * A role that does not own the indexes may not merge them, and leaves it to PostgreSQL.
 */
export async function tidySearchIndexes(
  pool: pg.Pool,
  tables: readonly string[] = Object.keys(searchedText),
): Promise<void> {
  await queryWithoutTimeout(
    pool,
    `SELECT gin_clean_pending_list(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE indisvalid AND relname = ANY($1::text[]) AND relnamespace = current_schema()::regnamespace
       AND pg_has_role(relowner, 'USAGE')`,
    [tables.map(searchIndexName)],
  );
}

async function ensureExtension(pool: pg.Pool, name: string): Promise<void> {
  const found = await pool.query('SELECT FROM pg_extension WHERE extname = $1', [name]);
  if (found.rows.length > 0) return;
  try {
    await pool.query(`CREATE EXTENSION IF NOT EXISTS ${name}`);
  } catch (error) {
    // If two instances create it at the same time, one of them gets an error.
    const again = await pool.query('SELECT FROM pg_extension WHERE extname = $1', [name]);
    if (again.rows.length === 0) throw error;
  }
}

/** The name of the schema, quoted for SQL. */
async function schemaOf(pool: pg.Pool, extension: string): Promise<string> {
  const { rows } = await pool.query<{ name: string }>(
    'SELECT quote_ident(nspname) AS name FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = $1',
    [extension],
  );
  return rows[0]?.name ?? schema;
}
