import type pg from 'pg';

/**
 * The keys of the advisory locks, by what one instance at a time does. Each lock belongs to a transaction and not to a
 * session: behind a pool of connections in transaction mode, a session is another client's after the next COMMIT, and
 * its locks would be held for ever.
 */
export const advisoryLocks = {
  /** `prisma migrate` takes the same key, for a session: theirs and ours exclude each other. */
  migration: 72707369,
  logPartitions: 72707370,
  logIndexes: 72707372,
  licenseCounts: 72707373,
  indexes: 72707374,
  logSearch: 72707375,
} as const;

/**
 * Takes an advisory lock until the transaction ends, or finds at once that another has it. Who wants it for long tries
 * again, and does not wait in a statement: the building of an index waits for every statement that is older than it.
 */
export async function tryLock(client: pg.ClientBase, key: number): Promise<boolean> {
  const { rows } = await client.query<{ mine: boolean }>(`SELECT pg_try_advisory_xact_lock(${key}) AS mine`);
  return rows[0]?.mine === true;
}

/** A backend of PostgreSQL, as others see it. */
export interface Backend {
  readonly pid: number;
  /** Empty where the backend is another user's, whom this one may not look at. */
  readonly applicationName: string;
  /** As pg_stat_activity has it. An `idle` backend is in no transaction, and holds its lock for the session. */
  readonly state: string | null;
  /** For how long it has been in that state, in seconds. */
  readonly seconds: number | null;
}

/** A backend that holds an advisory lock. */
export interface LockHolder extends Backend {
  readonly key: number;
}

/** Which backends hold one of these locks in this database. */
export async function holdersOf(
  client: pg.Pool | pg.ClientBase,
  keys: readonly number[],
): Promise<LockHolder[]> {
  const { rows } = await client.query<LockHolder>(
    `SELECT held.objid::int AS key, held.pid, coalesce(application_name, '') AS "applicationName", state,
       extract(epoch FROM clock_timestamp() - state_change)::int AS seconds
     FROM pg_locks AS held JOIN pg_stat_activity AS backend USING (pid)
     WHERE locktype = 'advisory' AND granted AND classid = 0 AND objsubid = 1 AND objid = ANY($1::oid[])
       AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
     ORDER BY 1, 2`,
    [keys],
  );
  return rows;
}

/** A few other backends of this database with the oldest open transactions, oldest first. */
export async function oldestTransactions(client: pg.Pool | pg.ClientBase): Promise<Backend[]> {
  const { rows } = await client.query<Backend>(
    `SELECT pid, coalesce(application_name, '') AS "applicationName", state,
       extract(epoch FROM clock_timestamp() - xact_start)::int AS seconds
     FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
     ORDER BY xact_start LIMIT 3`,
  );
  return rows;
}

/** For people: who holds a lock. */
export function describeHolder({ pid, applicationName, state, seconds }: Backend): string {
  const name = applicationName === '' ? '' : ` of "${applicationName}"`;
  return `backend ${pid}${name} (${state ?? 'in an unknown state'}${seconds === null ? '' : ` for ${seconds} s`})`;
}
