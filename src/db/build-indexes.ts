import pg from 'pg';
import { advisoryLocks } from './advisory-locks.ts';
import { cancelOnAbort, type Run } from './cancel-on-abort.ts';
import { noLimits, prepareSession } from './session-settings.ts';
import { whileHolding } from './while-holding.ts';

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
  build(run: Run, index: Wanted): Promise<void>;
}

/**
 * Builds what is missing, one after another, on a connection that waits for locks as long as it takes, or until it is to
 * stop. Several instances may call it at once: one works.
 * @returns the names of the indexes that were built
 * @throws {Error} when it was stopped within an index
 */
export async function buildMissing<Wanted extends { readonly name: string }>(
  pool: pg.Pool,
  { advisoryLock, stop = new AbortController().signal, missing, build }: IndexBuilding<Wanted>,
): Promise<string[]> {
  const built: string[] = [];
  if (stop.aborted || (await missing(pool)).length === 0) return built;
  const buildAll = async (client: pg.ClientBase, run: Run): Promise<void> => {
    for (const index of await missing(client)) {
      if (stop.aborted) return;
      await build(run, index);
      built.push(index.name);
    }
  };
  if (pool.options.max === 1) {
    await onOnlyConnection(pool, (client) => buildAll(client, (sql) => client.query(sql)));
  } else {
    await whileHolding(pool, advisoryLock, (lost) =>
      onPatientConnection(pool, (client) =>
        cancelOnAbort(pool, client, AbortSignal.any([stop, lost]), (run) => buildAll(client, run)),
      ),
    );
  }
  return built;
}

/** Embedded, whoever has the one connection is alone: no lock is needed, and no statement waits for a transaction. */
async function onOnlyConnection(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<void>,
): Promise<void> {
  const client = await pool.connect();
  try {
    await work(client);
  } finally {
    client.release();
  }
}

/** Apart from the pool, whose connections have limits of time, and are for requests. */
async function onPatientConnection(pool: pg.Pool, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client(pool.options);
  // The statement that it breaks off says so too.
  client.on('error', () => undefined);
  try {
    await client.connect();
    // A shared session keeps the limits that the operator has given it.
    await prepareSession(client, noLimits);
    await work(client);
  } finally {
    await client.end();
  }
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
    advisoryLock: advisoryLocks.indexes,
    stop,
    missing: (client) => missing(client, wanted),
    build: async (run, { name, table, definition }) => {
      await run(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
      await run(`CREATE INDEX CONCURRENTLY ${name} ON ${table} USING ${definition}`);
      // The planner knows nothing of an expression before it has looked at the table with the index.
      await run(`ANALYZE ${table}`);
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
