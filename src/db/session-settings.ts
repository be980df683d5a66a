import type pg from 'pg';

/** The schema of the tables, whatever the role's search_path is. Prisma's SQL names it, hand-written SQL does not. */
export const schema = 'public';

interface PinnedSetting {
  readonly name: string;
  readonly value: string;
  /** True if PgBouncer keeps it for each client, so that it can be set in shared sessions. */
  readonly isKeptByPools: boolean;
}

const pin = (name: string, value: string, isKeptByPools = false): PinnedSetting => ({
  name,
  value,
  isKeptByPools,
});

/**
 * The settings that hand-written SQL, Prisma's SQL, and the parsers of results assume. A role, a database or a server may
 * have other values. docs/postgresql.md lists them, and the settings that are left unchanged.
 */
export const pinnedSettings: readonly PinnedSetting[] = [
  // The format of timestamps. The Prisma adapter removes the offset, so it must be zero.
  pin('DateStyle', 'ISO, MDY', true),
  pin('TimeZone', 'UTC', true),
  pin('standard_conforming_strings', 'on', true),
  pin('search_path', schema),
  // When two transactions race, one sees the other's change and decides again. A stricter level would make it fail.
  pin('default_transaction_isolation', 'read committed'),
  // "off" turns each NULL in an array into a text.
  pin('array_nulls', 'on'),
  // With a value other than 0, searches omit results.
  pin('gin_fuzzy_search_limit', '0'),
];

/** "replica" disables triggers and foreign keys. Only a superuser can change it, so the start is refused instead. */
const replicationRole: PinnedSetting = pin('session_replication_role', 'origin');

/** Time limits of a session, ordered by name. */
export type TimeLimits = Readonly<
  Record<'idle_in_transaction_session_timeout' | 'lock_timeout' | 'statement_timeout', string>
>;

/**
 * Keeps a request from waiting longer than three seconds. Connections are waited for in a queue. Others may hold a lock for
 * long, such as on the rows of an application with a million licenses that is being deleted. A client that vanishes, such as
 * a machine without power, loses its locks. A statement would continue after its client stopped waiting for it. Work that
 * may take longer lifts the limit in its transaction (`liftStatementTimeout`). A commit is not cut short: PostgreSQL's limit ends
 * before it.
 */
export const requestLimits: TimeLimits = {
  idle_in_transaction_session_timeout: '15s',
  lock_timeout: '2s',
  statement_timeout: '3s',
};

/** For commands and index builds: they take as long as they need, whatever the role has. */
export const noLimits: TimeLimits = {
  idle_in_transaction_session_timeout: '0',
  lock_timeout: '0',
  statement_timeout: '0',
};

/** Lifts a limit if the server knows it: transaction_timeout is new in 17, idle_session_timeout in 14. */
const lift = (limit: 'transaction_timeout' | 'idle_session_timeout', isLocal: boolean): string =>
  `SELECT set_config('${limit}', '0', ${isLocal}) WHERE current_setting('${limit}', true) IS NOT NULL`;

const liftTransactionLimit = lift('transaction_timeout', true);

/** Begins a transaction whose statements run, and wait for locks, for as long as they need. */
export const beginWithoutTimeouts = `BEGIN; SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0; ${liftTransactionLimit}`;

/** For a transaction whose statements may run for as long as they need, such as maintenance. */
export const liftStatementTimeout = `SET LOCAL statement_timeout = 0; ${liftTransactionLimit}`;

/** For a transaction that is idle at times while work continues elsewhere. */
export const allowIdleTransaction = `SET LOCAL idle_in_transaction_session_timeout = '60s'; ${liftTransactionLimit}`;

/**
 * Sets up a new session before any other query. In a shared session, it sets only what a connection pooler keeps for each
 * client; `wrongSettings` reports what else would be needed.
 * @param limits null for an embedded database, whose one session has no other settings
 */
export async function prepareSession(client: pg.ClientBase, limits: TimeLimits | null): Promise<void> {
  const isShared = limits !== null && (await isSessionShared(client));
  const pinned = pinnedSettings.filter(({ isKeptByPools }) => isKeptByPools || !isShared);
  const statements = pinned.map(({ name, value }) => `SET ${name} TO ${literal(name, value)}`);
  if (!isShared && limits !== null) {
    for (const [name, value] of Object.entries(limits)) statements.push(`SET ${name} TO '${value}'`);
    statements.push(lift('idle_session_timeout', false), lift('transaction_timeout', false));
    // The pool has to receive the warning that a commit was cancelled (session-pool.ts).
    statements.push("SET client_min_messages TO 'warning'");
  }
  await client.query(statements.join('; '));
}

/** PostgreSQL would read a quoted list of schemas as one name. */
const literal = (name: string, value: string): string => (name === 'search_path' ? value : `'${value}'`);

/**
 * True if a connection pooler such as PgBouncer shares the server's sessions among its clients. A pooler gives each client a
 * made-up process id for cancel requests. A session setting there applies to the next client of that session, not to us.
 */
export async function isSessionShared(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return !('processID' in client) || client.processID !== rows[0]?.pid;
}

export interface WrongSetting {
  readonly name: string;
  readonly value: string;
  readonly wanted: string;
}

/** The pinned settings that still differ in a prepared session. */
export async function wrongSettings(client: pg.Pool | pg.ClientBase): Promise<WrongSetting[]> {
  const checked = [...pinnedSettings, replicationRole];
  const { rows } = await client.query<WrongSetting>(
    `SELECT name, setting AS value, wanted
     FROM unnest($1::text[], $2::text[]) AS pinned (name, wanted) JOIN pg_settings USING (name)
     WHERE CASE name
       -- It may also name schemas that do not exist, or that come later, such as "$user" and public.
       WHEN 'search_path' THEN current_schema() IS DISTINCT FROM wanted
       ELSE setting <> wanted END
     ORDER BY name`,
    [checked.map(({ name }) => name), checked.map(({ value }) => value)],
  );
  return rows;
}

/** The statements that correct these settings for the session's role only. They override every other source. */
export async function statementsThatSet(
  client: pg.Pool | pg.ClientBase,
  wrong: readonly WrongSetting[],
): Promise<string[]> {
  const { rows } = await client.query<{ whose: string }>(
    `SELECT format('ALTER ROLE %I IN DATABASE %I', session_user, current_database()) AS whose`,
  );
  return wrong.map(({ name, wanted }) => `${rows[0]?.whose} SET ${name} TO ${literal(name, wanted)}`);
}
