import { accessSync, constants } from 'node:fs';
import pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { describeTlsFailure } from '../lib/tls-failure.ts';
import { createOpenSockets } from './open-sockets.ts';
import { createPool } from './pool.ts';
import {
  isSessionShared,
  requestLimits,
  schema,
  statementsThatSet,
  wrongSettings,
} from './session-settings.ts';
import { DatabaseStartError } from './start-error.ts';

/** The oldest PostgreSQL version that the migrations support. */
export const minMajorVersion = 15;

/** How long a request waits for a connection of the pool, in milliseconds. */
const connectionTimeoutMillis = 2_500;

/**
 * The state of a server, as its watch sees it.
 *
 * `unconfirmed`: commits wait for a synchronous standby that does not answer. PostgreSQL waits for it without a limit. It
 * must not be cancelled either, because PostgreSQL would then acknowledge a commit that no standby has.
 */
export type ServerState = 'writable' | 'read-only' | 'unconfirmed' | 'unavailable';

/** A connection pool of a PostgreSQL server. Its queries fail at once while the server is unavailable. */
export interface ServerConnections {
  readonly pool: pg.Pool;
  /** False from `noteState('unavailable')` on, until another state is noted. */
  isAvailable(): boolean;
  /** Whether the server was read-only when it last answered the watch. */
  isReadOnly(): boolean;
  /** False if commits waited for a standby when the server last answered the watch. */
  confirmsWrites(): boolean;
  /**
   * Cuts all connections and refuses new ones while the server is unavailable. While it does not confirm writes, reads go
   * on, and writes are refused: each of them would leave one more backend that waits. Behind a connection pooler, which
   * shares its sessions with others, reads are refused as well.
   */
  noteState(state: ServerState): void;
  /** Closes the pool's connections to these backends. Whether their commits take effect is unknown. */
  hangUp(backends: ReadonlySet<number>): void;
  close(): Promise<void>;
}

/**
 * Connects to a PostgreSQL server and checks its version and settings.
 * @param max the size of the pool
 * @throws {DatabaseStartError} naming the server, without the password, and the reason
 */
export async function connectServer(url: string, log: Logger, max = 10): Promise<ServerConnections> {
  const sockets = createOpenSockets();
  const config = { connectionString: url, max, connectionTimeoutMillis, stream: sockets.open };
  const pool = createPool(config, log, requestLimits);
  let isShared = false;
  try {
    const version = await pool.query<{ server_version_num: string }>('SHOW server_version_num');
    checkServerVersion(Number(version.rows[0]?.server_version_num));
    await refuseOtherSettings(pool, url);
    isShared = await findIfShared(pool, log);
  } catch (error) {
    await pool.end();
    throw error instanceof DatabaseStartError ? error : explain(error, url);
  }
  let isAvailable = true;
  let answered: Exclude<ServerState, 'unavailable'> = 'writable';
  function noteState(state: ServerState): void {
    if (state === 'unavailable') {
      if (isAvailable) sockets.refuse('The PostgreSQL server is unavailable.');
      isAvailable = false;
      return;
    }
    const before = isAvailable ? answered : null;
    if (state === before) return;
    isAvailable = true;
    pool.readOnly = state === 'unconfirmed' && !isShared;
    if (state === 'unconfirmed' && isShared) sockets.refuse('The PostgreSQL server does not confirm writes.');
    else sockets.admit();
    if (state !== answered) logState(state, log);
    answered = state;
  }
  return {
    pool,
    isAvailable: () => isAvailable,
    isReadOnly: () => answered === 'read-only',
    confirmsWrites: () => answered !== 'unconfirmed',
    noteState,
    hangUp: (backends) => pool.hangUp(backends),
    close: () => pool.end(),
  };
}

function logState(state: Exclude<ServerState, 'unavailable'>, log: Logger): void {
  switch (state) {
    case 'writable':
      log.info('PostgreSQL accepts writes again');
      break;
    case 'read-only':
      log.warn(
        'PostgreSQL is read-only (transaction_read_only is on): requests that change data are refused',
      );
      break;
    case 'unconfirmed':
      log.warn(
        'PostgreSQL does not confirm writes: commits wait for a synchronous standby that does not answer. Requests that ' +
          'change data are refused until it is back, or until it is removed from synchronous_standby_names',
      );
      break;
  }
}

async function findIfShared(pool: pg.Pool, log: Logger): Promise<boolean> {
  const client = await pool.connect();
  const isShared = await isSessionShared(client).finally(() => client.release());
  if (!isShared) return false;
  log.info(
    'The connection to PostgreSQL goes through a pooler such as PgBouncer: the timeouts of the role apply, and "latchkey ' +
      'doctor" lists those that are missing',
  );
  return true;
}

/**
 * Checks that sessions have the required settings. They may differ behind a connection pooler, or if a superuser has
 * changed a setting that only a superuser can change.
 */
async function refuseOtherSettings(pool: pg.Pool, url: string): Promise<void> {
  const wrong = await wrongSettings(pool);
  if (wrong.length === 0) return;
  await refuseWithoutSchema(pool, url);
  const found = wrong.map(({ name, value }) => `${name} is "${value}"`).join(', ');
  const statements = await statementsThatSet(pool, wrong);
  throw new DatabaseStartError(
    'settings',
    `${capitalized(serverOf(url))} has settings that the service cannot work with and cannot change in its own sessions: ${found}. ` +
      `As an administrator, run there: ${statements.join('; ')}; then reopen every connection to the database, for example ` +
      "with PgBouncer's RECONNECT. See docs/postgresql.md.",
  );
}

/** If the schema is missing or not accessible, no search path finds the tables. */
async function refuseWithoutSchema(pool: pg.Pool, url: string): Promise<void> {
  const { rows } = await pool.query<{ isThere: boolean; mayUse: boolean; user: string; database: string }>(
    `SELECT oid IS NOT NULL AS "isThere", coalesce(has_schema_privilege(oid, 'USAGE'), false) AS "mayUse",
       quote_ident(current_user) AS user, current_database() AS database
     FROM (SELECT (SELECT oid FROM pg_namespace WHERE nspname = $1)) AS found`,
    [schema],
  );
  const [found] = rows;
  if (found === undefined || (found.isThere && found.mayUse)) return;
  const { isThere, user, database } = found;
  const place = `the database "${database}" on ${serverOf(url)}`;
  throw new DatabaseStartError(
    'schema',
    isThere
      ? `The user ${user} may not use the schema ${schema} of ${place}, where Latchkey's tables are: as its owner, run ` +
          `GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${user}.`
      : `There is no schema ${schema} in ${place}, and Latchkey's tables must be in it, whatever search_path is: as the ` +
          `database's owner, run CREATE SCHEMA ${schema} AUTHORIZATION ${user}.`,
  );
}

/** @param versionNumber `server_version_num`, such as 150004 */
export function checkServerVersion(versionNumber: number): void {
  const major = Math.floor(versionNumber / 10_000);
  if (major >= minMajorVersion) return;
  throw new DatabaseStartError(
    'too-old',
    `The server in DATABASE_URL runs PostgreSQL ${major}; ${minMajorVersion} or newer is required.`,
  );
}

const tlsAdvice = {
  trust: 'in DATABASE_URL (?sslmode=verify-full&sslrootcert=/path/to/ca.pem), or in NODE_EXTRA_CA_CERTS',
  clientCertificate: 'set one in DATABASE_URL (sslcert, sslkey)',
};

function explain(error: unknown, url: string): DatabaseStartError {
  const unreadable = unreadableFile(url);
  if (unreadable !== null) return unreadable;
  const { user, database } = new pg.Client({ connectionString: url });
  const server = serverOf(url);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = error instanceof Error ? error.message || code : String(error);
  const as = `user "${user}"`;
  if (code === '28P01' || code === '28000' || /password must be a string|SASL/.test(reason)) {
    const message = `Cannot sign in to ${server} as ${as}: check the user and the password in DATABASE_URL (${reason}).`;
    return new DatabaseStartError('authentication', message, { cause: error });
  }
  if (code === '3D000') {
    const message = `There is no database "${database}" on ${server}: create it, or correct DATABASE_URL.`;
    return new DatabaseStartError('refused', message, { cause: error });
  }
  const tls = /server does not support SSL/.test(reason)
    ? 'does not support TLS: enable ssl there, or remove sslmode from DATABASE_URL if the network is private'
    : describeTlsFailure(error, tlsAdvice);
  if (tls !== null) {
    const message = `${capitalized(server)} ${tls}.`;
    return new DatabaseStartError('tls', message, { cause: error });
  }
  // A SQLSTATE: the server is reachable and refused the connection.
  if (/^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E')) {
    return new DatabaseStartError('refused', `Cannot use ${server}: ${reason}.`, { cause: error });
  }
  const message = `Cannot reach ${server}: ${reason || 'no answer'}. Check that it is running and that DATABASE_URL is correct.`;
  return new DatabaseStartError('unreachable', message, { cause: error });
}

/** The server's name for messages, in the middle of a sentence. */
function serverOf(url: string): string {
  const { host, port } = new pg.Client({ connectionString: url });
  return `the PostgreSQL server at ${host}:${port}`;
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The driver reads the certificate files in the URL at each connection. */
function unreadableFile(url: string): DatabaseStartError | null {
  const { searchParams } = new URL(url);
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const path = searchParams.get(name);
    if (path === null) continue;
    try {
      accessSync(path, constants.R_OK);
    } catch (cause) {
      const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
      const message = `The file ${path}, the ${name} in DATABASE_URL, is not readable (${code}).`;
      return new DatabaseStartError('tls', message, { cause });
    }
  }
  return null;
}
