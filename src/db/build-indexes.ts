import type pg from 'pg';
import { waitForLocks } from './pool.ts';
import { untilStopped } from './until-stopped.ts';

/** Advisory lock of the one instance that builds these indexes. */
const advisoryLock = 72707374;

export interface WantedIndex {
  readonly name: string;
  readonly table: string;
  /** What is indexed, as `CREATE INDEX … USING` is followed by it. */
  readonly definition: string;
}

export interface IndexBuilding<Wanted extends { readonly name: string }> {
  /** Advisory lock of the one instance that builds. */
  readonly advisoryLock: number;
  /** Breaks the building off; undefined: nothing does. */
  readonly stop: AbortSignal | undefined;
  missing(client: pg.Pool | pg.ClientBase): Promise<readonly Wanted[]>;
  build(client: pg.PoolClient, index: Wanted): Promise<void>;
}

/**
 * Builds what is missing, one after another, on one connection that waits for locks as long as it takes, or until it is
 * to stop. Several instances may call it at once: one works.
 * @returns the names of the indexes that were built
 * @throws {Error} when it was stopped within an index
 */
export async function buildMissing<Wanted extends { readonly name: string }>(
  pool: pg.Pool,
  { advisoryLock, stop = new AbortController().signal, missing, build }: IndexBuilding<Wanted>,
): Promise<string[]> {
  const built: string[] = [];
  if (stop.aborted || (await missing(pool)).length === 0) return built;
  const client = await pool.connect();
  try {
    // Tried, not waited for: whoever waits in a statement is waited for by the index itself.
    const locked = await client.query<{ locked: boolean }>(
      `SELECT pg_try_advisory_lock(${advisoryLock}) AS locked`,
    );
    if (locked.rows[0]?.locked !== true) return built;
    await client.query(waitForLocks);
    await untilStopped(pool, client, stop, async () => {
      for (const index of await missing(client)) {
        if (stop.aborted) return;
        await build(client, index);
        built.push(index.name);
      }
    });
    await client.query(`SELECT pg_advisory_unlock(${advisoryLock})`);
  } finally {
    // Closed, not reused: the setting is its session's, and so is the lock when something failed.
    client.release(true);
  }
  return built;
}

/**
 * Builds indexes one by one without holding up those who write to their tables, which a migration cannot: it is a
 * transaction. Several instances may call it at once: one works. What a stopped process left half built is built anew.
 * @returns the names of the indexes that were built
 */
export const buildIndexes = (
  pool: pg.Pool,
  wanted: readonly WantedIndex[],
  stop?: AbortSignal,
): Promise<string[]> =>
  buildMissing(pool, {
    advisoryLock,
    stop,
    missing: (client) => missing(client, wanted),
    build: async (client, { name, table, definition }) => {
      await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
      await client.query(`CREATE INDEX CONCURRENTLY ${name} ON ${table} USING ${definition}`);
      // The planner knows nothing of an expression before it has looked at the table with the index.
      await client.query(`ANALYZE ${table}`);
    },
  });

async function missing(
  client: pg.Pool | pg.ClientBase,
  wanted: readonly WantedIndex[],
): Promise<readonly WantedIndex[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE indisvalid AND relname = ANY($1::text[]) AND relnamespace = current_schema()::regnamespace`,
    [wanted.map(({ name }) => name)],
  );
  const there = new Set(rows.map(({ name }) => name));
  return wanted.filter(({ name }) => !there.has(name));
}
