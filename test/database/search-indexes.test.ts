import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { buildIndexes } from '../../src/db/build-indexes.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { buildFilterIndexes, listIndexes } from '../../src/db/list-indexes.ts';
import { buildSearchIndexes, tidySearchIndexes } from '../../src/db/search-indexes.ts';
import { createTestDatabase, databaseKinds, serverUrl, silent } from '../setup/database.ts';
import { createOddDatabase } from '../setup/odd-database.ts';

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function freshDatabase(kind: 'memory' | 'server'): Promise<Database> {
  const database = await createTestDatabase(kind);
  undo.push(database.close);
  return database;
}

const searchIndexes = ['log_search_values_search_idx', 'licenses_search_idx', 'end_users_search_idx'];

const filterIndexes = ['licenses_tags_idx', 'licenses_metadata_idx'];

/** The valid indexes among these. */
async function valid({ pool }: Database, names: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE indisvalid AND relname = ANY($1::text[]) ORDER BY 1 DESC`,
    [names],
  );
  return rows.map(({ name }) => name);
}

describe.each(databaseKinds)('the indexes of lists on %s', (kind) => {
  it('are built once, even by several callers', async () => {
    const database = await freshDatabase(kind);
    const callers = Array.from({ length: 3 }, () => buildSearchIndexes(database.pool, silent));
    expect((await Promise.all(callers)).flat().sort()).toEqual([...searchIndexes].sort());
    expect(await valid(database, searchIndexes)).toEqual(searchIndexes);
    expect(await buildSearchIndexes(database.pool, silent)).toEqual([]);
    await tidySearchIndexes(database.pool);
    const names = listIndexes.map(({ name }) => name);
    expect(await buildIndexes(database.pool, listIndexes)).toEqual(names);
    expect(await buildIndexes(database.pool, listIndexes)).toEqual([]);
    expect(await buildFilterIndexes(database.pool)).toEqual(filterIndexes);
    expect(await buildFilterIndexes(database.pool)).toEqual([]);
  });

  it('for tags and metadata are built without the extensions too', async () => {
    const database = await freshDatabase(kind);
    expect(await buildFilterIndexes(database.pool)).toEqual(filterIndexes);
    expect(await valid(database, filterIndexes)).toEqual([...filterIndexes].sort().reverse());
  });

  it('that have not begun are left to the next start when the build is stopped', async () => {
    const database = await freshDatabase(kind);
    const stop = new AbortController();
    const building = buildIndexes(database.pool, listIndexes, stop.signal).catch(() => 'cancelled');
    stop.abort();
    // On a server, the build may be cancelled in a query before the first index.
    expect([[], 'cancelled']).toContainEqual(await building);
    expect(await buildIndexes(database.pool, listIndexes, stop.signal)).toEqual([]);
    expect(await buildIndexes(database.pool, listIndexes)).toEqual(listIndexes.map(({ name }) => name));
  });

  it('are rebuilt after an interrupted build', async () => {
    const database = await freshDatabase(kind);
    await buildSearchIndexes(database.pool, silent);
    await database.pool.query(
      `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'licenses_search_idx'::regclass`,
    );
    expect(await buildSearchIndexes(database.pool, silent)).toEqual(['licenses_search_idx']);
    expect(await valid(database, searchIndexes)).toEqual(searchIndexes);
  });

  it('are not built if the extensions cannot be created, and the log says how to create them', async () => {
    const database = await freshDatabase(kind);
    const visitor = `visitor_${randomBytes(8).toString('hex')}`;
    await database.pool.query(`CREATE ROLE ${visitor}`);
    undo.push(() => database.pool.query(`DROP ROLE ${visitor}`));
    const client = await database.pool.connect();
    const said: string[] = [];
    try {
      await client.query(`SET ROLE ${visitor}`);
      const log = { ...silent, warn: (_: unknown, text: string) => said.push(text) };
      // A single connection, with restricted rights.
      const pool = Object.assign(Object.create(database.pool), { query: client.query.bind(client) });
      expect(await buildSearchIndexes(pool, Object.assign(Object.create(silent), log))).toEqual([]);
    } finally {
      await client.query('RESET ROLE');
      client.release();
    }
    expect(said).toEqual([expect.stringContaining('CREATE EXTENSION pg_trgm')]);
    expect(await valid(database, searchIndexes)).toEqual([]);
  });
});

describe.skipIf(serverUrl === null)('if an administrator keeps extensions in a separate schema', () => {
  it('the indexes are built', async () => {
    const { url } = await createOddDatabase({
      prepare: `CREATE SCHEMA "Extensions"; GRANT USAGE ON SCHEMA "Extensions" TO PUBLIC;
        CREATE EXTENSION pg_trgm SCHEMA "Extensions"; CREATE EXTENSION btree_gin SCHEMA "Extensions"`,
    });
    const database = await openDatabase({ kind: 'server', url }, { log: silent });
    try {
      const built = await buildSearchIndexes(database.pool, silent);
      expect(built.sort()).toEqual([...searchIndexes].sort());
    } finally {
      await database.close();
    }
  });
});
