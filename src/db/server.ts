import pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { startHeartbeat } from './heartbeat.ts';
import { createOpenSockets } from './open-sockets.ts';
import { createPool } from './pool.ts';
import { DatabaseStartError } from './start-error.ts';

/** Oldest PostgreSQL that the migrations are written for. */
export const oldestMajorVersion = 15;

/**
 * What keeps a request from waiting for longer than three seconds. A connection is waited for in a queue; a lock, as
 * of rows that go with an application of a million licenses, is another's to give up; and who holds locks and is not
 * heard of any more, as a machine without power, loses them.
 */
const connectionTimeoutMillis = 2_500;
const sessionSettings = [`lock_timeout = '2s'`, `idle_in_transaction_session_timeout = '15s'`];

/** A pool of connections to a PostgreSQL server, which fails at once while the server is away. */
export interface ServerConnections {
  readonly pool: pg.Pool;
  /** Whether the server answered its last heartbeat. */
  isAvailable(): boolean;
  /** Whether the last heartbeat that was answered found that it takes no writes. */
  isReadOnly(): boolean;
  close(): Promise<void>;
}

/**
 * Connects to a PostgreSQL server, after one connection has been made and the server found new enough.
 * @param max of connections that work; one more asks whether the server is there
 * @throws {DatabaseStartError} saying which server cannot be used and why, never with the password
 */
export async function connectServer(url: string, log: Logger, max = 10): Promise<ServerConnections> {
  const sockets = createOpenSockets();
  const config = { connectionString: url, max, connectionTimeoutMillis, stream: sockets.open };
  const pool = createPool(config, log, sessionSettings);
  try {
    const version = await pool.query<{ server_version_num: string }>('SHOW server_version_num');
    checkServerVersion(Number(version.rows[0]?.server_version_num));
  } catch (error) {
    await pool.end();
    throw error instanceof DatabaseStartError ? error : explain(error, url);
  }
  let isAway = false;
  let isReadOnly = false;
  const stopHeartbeat = startHeartbeat({
    url,
    onAway: (reason) => {
      isAway = true;
      log.warn('PostgreSQL is away: what needs it is refused');
      sockets.refuse(reason);
    },
    onBack: () => {
      isAway = false;
      log.info('PostgreSQL is back');
      sockets.admit();
    },
    onReadOnly: (now) => {
      isReadOnly = now;
      if (now)
        log.warn(
          'PostgreSQL takes no writes (transaction_read_only is on): what changes something is refused',
        );
      else log.info('PostgreSQL takes writes again');
    },
  });
  return {
    pool,
    isAvailable: () => !isAway,
    isReadOnly: () => isReadOnly,
    close: async () => {
      await pool.end();
      await stopHeartbeat();
    },
  };
}

/** @param versionNumber `server_version_num`, such as 150004 */
export function checkServerVersion(versionNumber: number): void {
  const major = Math.floor(versionNumber / 10_000);
  if (major >= oldestMajorVersion) return;
  throw new DatabaseStartError(
    'too-old',
    `The server that DATABASE_URL names runs PostgreSQL ${major}; ${oldestMajorVersion} or newer is needed.`,
  );
}

function explain(error: unknown, url: string): DatabaseStartError {
  const { host, port, user, database } = new pg.Client({ connectionString: url });
  const server = `the PostgreSQL server at ${host}:${port}`;
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
  // SQLSTATE: the server answered, and refused.
  if (/^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E')) {
    return new DatabaseStartError('refused', `Cannot use ${server}: ${reason}.`, { cause: error });
  }
  const message = `Cannot reach ${server}: ${reason || 'no answer'}. Check that it runs and that DATABASE_URL is right.`;
  return new DatabaseStartError('unreachable', message, { cause: error });
}
