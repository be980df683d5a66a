import pg from 'pg';
import { advisoryLocks } from './advisory-locks.ts';
import { cancelOnAbort, type Run } from './cancel-on-abort.ts';
import { noLimits, prepareSession } from './session-settings.ts';
import { whileHolding } from './while-holding.ts';

export interface WantedIndex {
  readonly name: string;
  readonly table: string;
  /** What follows `CREATE INDEX … USING`. */
  readonly definition: string;
}

export interface IndexBuilding<Wanted extends { readonly name: string }> {
  /** Key of the lock that lets one instance build at a time. */
  readonly advisoryLock: number;
  /** Cancels the build. */
  readonly stop: AbortSignal | undefined;
  missing(client: pg.Pool | pg.ClientBase): Promise<readonly Wanted[]>;
  build(run: Run, index: Wanted): Promise<void>;
}

/**
 * Builds missing indexes one after another, on a connection without timeouts. Several instances can call it at the same
 * time: one builds, the others return.
 * @returns the names of the indexes that were built
 * @throws {Error} when it was cancelled during a build
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
    await onPoolConnection(pool, (client) => buildAll(client, (sql) => client.query(sql)));
  } else {
    await whileHolding(pool, advisoryLock, (lost) =>
      onSeparateConnection(pool, (client) =>
        cancelOnAbort(pool, client, AbortSignal.any([stop, lost]), (run) => buildAll(client, run)),
      ),
    );
  }
  return built;
}

/** The embedded database has one connection, so there is no concurrent instance or transaction. */
async function onPoolConnection(
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

/** Connections of the pool have timeouts and serve requests. */
async function onSeparateConnection(
  pool: pg.Pool,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new pg.Client(pool.options);
  // The interrupted statement reports the error too.
  client.on('error', () => undefined);
  try {
    await client.connect();
    // Behind a pooler, the session keeps the timeouts that the operator has configured.
    await prepareSession(client, noLimits);
    await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Builds missing indexes concurrently, so that writes to their tables continue. A migration cannot do this, because it is
 * a transaction. Several instances can call it at the same time: one builds. An invalid index of an interrupted build is
 * rebuilt.
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
      // The planner has statistics on an indexed expression only after ANALYZE.
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
