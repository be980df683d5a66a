import type pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { buildIndexes, type WantedIndex } from './build-indexes.ts';
import { atLeisure } from './in-transaction.ts';
import { schema } from './session-settings.ts';

/** The text that searches of a table look in, as SQL: a text that one of the columns holds, it holds too. */
export const searchedText = {
  licenses: joined(['licenses.key_prefix', 'licenses.note', 'licenses.hwid', 'licenses.last_ip']),
  end_users: joined(['end_users.username', 'end_users.email', 'end_users.last_ip', 'end_users.last_hwid']),
  /** What the entries of a log hold, a row a text (log-search). */
  log_search_values: 'log_search_values.value',
} as const;

function joined(columns: readonly string[]): string {
  return `(${columns.map((column) => `coalesce(${column}, '')`).join(` || E'\\n' || `)})`;
}

const searchIndexName = (table: string): string => `${table}_search_idx`;

/**
 * With the application beside the text's trigrams: an index is of a whole table, and what is rare among the licenses of
 * one vendor may be in each of another's.
 * @param extensions the schema of pg_trgm, which the administrator of a server chooses
 */
const searchIndexes = (extensions: string): readonly WantedIndex[] =>
  Object.entries(searchedText).map(([table, text]) => ({
    name: searchIndexName(table),
    table,
    // New entries wait in a list of up to so many kilobytes, so that minting ten thousand keys does not have to merge it.
    definition: `gin (application_id, (${text}) ${extensions}.gin_trgm_ops) WITH (gin_pending_list_limit = 8192)`,
  }));

/**
 * Builds the indexes that searches use, where they are missing. Without them, or where they cannot be made, searches
 * find the same and read more. Call it at start, and do not wait for it.
 * @returns the names of the indexes that were built
 */
export async function buildSearchIndexes(pool: pg.Pool, log: Logger, stop?: AbortSignal): Promise<string[]> {
  for (const extension of ['pg_trgm', 'btree_gin']) {
    try {
      await ensureExtension(pool, extension);
    } catch (error) {
      log.warn(
        { err: error },
        `The database has no extension ${extension}, so searches of long lists read all of them. Install PostgreSQL's ` +
          `contrib modules and let the database's owner run CREATE EXTENSION ${extension}, then start again.`,
      );
      return [];
    }
  }
  return buildIndexes(pool, searchIndexes(await schemaOf(pool, 'pg_trgm')), stop);
}

/** Sorts in what waits, which each search would look through. Call it every minute or so. */
export async function tidySearchIndexes(pool: pg.Pool): Promise<void> {
  await atLeisure(
    pool,
    `SELECT gin_clean_pending_list(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE indisvalid AND relname = ANY($1::text[]) AND relnamespace = current_schema()::regnamespace`,
    [Object.keys(searchedText).map(searchIndexName)],
  );
}

async function ensureExtension(pool: pg.Pool, name: string): Promise<void> {
  const found = await pool.query('SELECT FROM pg_extension WHERE extname = $1', [name]);
  if (found.rows.length > 0) return;
  try {
    await pool.query(`CREATE EXTENSION IF NOT EXISTS ${name}`);
  } catch (error) {
    // Two that make it at once: the slower one is told that it is there.
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
