import type pg from 'pg';

/**
 * Keys of the advisory locks, by the task that they serialize. Locks are taken per transaction, not per session: a
 * connection pooler in transaction mode gives the session to another client after COMMIT, so a session lock would never
 * be released.
 */
export const advisoryLocks = {
  /** `prisma migrate` takes a session lock with the same key, so it excludes this service's migrations. */
  migration: 72707369,
  logPartitions: 72707370,
  logIndexes: 72707372,
  licenseCounts: 72707373,
  indexes: 72707374,
  logSearch: 72707375,
} as const;

/**
 * Tries to take an advisory lock until the end of the transaction, without waiting. To wait for it, retry in a new
 * transaction: a waiting statement would block every concurrent index build.
 */
export async function tryLock(client: pg.ClientBase, key: number): Promise<boolean> {
  const { rows } = await client.query<{ mine: boolean }>(`SELECT pg_try_advisory_xact_lock(${key}) AS mine`);
  return rows[0]?.mine === true;
}

/** A backend of PostgreSQL, as others see it. */
export interface Backend {
  readonly pid: number;
  /** Empty if the backend belongs to another user and this user may not see its name. */
  readonly applicationName: string;
  /** `pg_stat_activity.state`. An `idle` backend is not in a transaction, so its locks are session locks. */
  readonly state: string | null;
  /** Seconds in that state; for `oldestTransactions`, seconds since the transaction began. */
  readonly seconds: number | null;
}

/** A backend that holds an advisory lock. */
export interface LockHolder extends Backend {
  readonly key: number;
}

/** The backends that hold one of these locks in this database. */
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

/** Up to three other backends of this database, those with the oldest open transactions, oldest first. */
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

/** Describes a backend for people. */
export function describeHolder({ pid, applicationName, state, seconds }: Backend): string {
  const name = applicationName === '' ? '' : ` of "${applicationName}"`;
  return `backend ${pid}${name} (${state ?? 'in an unknown state'}${seconds === null ? '' : ` for ${seconds} s`})`;
}
