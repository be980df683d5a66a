import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type pg from 'pg';
import type { DatabaseAddress } from '../db/address.ts';
import { openEmbedded } from '../db/embedded/embedded.ts';
import type { Migration } from '../db/migrations.ts';
import { createOpenSockets } from '../db/open-sockets.ts';
import { createPool } from '../db/pool.ts';
import { connectServer } from '../db/server.ts';
import { createLogger, type Logger } from '../lib/log.ts';
import { CommandError } from './failure.ts';
import type { Terminal } from './terminal.ts';

/** Connections to a database that has not been migrated. */
export interface Connections {
  readonly kind: 'embedded' | 'server';
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

/** PostgreSQL's `application_name` for connections of commands. */
const applicationName = 'latchkey-command';

/** A log of warnings and errors only: a command reports its results itself. */
export const commandLog = ({ env, stderr }: Terminal): Logger =>
  createLogger(env.LOG_LEVEL === 'debug' ? 'debug' : 'warn', stderr);

/**
 * Connects to a database without migrating it.
 * @param migrations used to create an embedded database that does not exist yet
 * @throws {DatabaseStartError | CommandError}
 */
export async function connect(
  address: DatabaseAddress,
  migrations: readonly Migration[],
  terminal: Terminal,
): Promise<Connections> {
  const log = commandLog(terminal);
  switch (address.kind) {
    case 'memory':
      throw inMemoryDatabaseError();
    case 'server': {
      const url = new URL(address.url);
      url.searchParams.set('application_name', applicationName);
      // `connectServer` explains why a server cannot be used. Its pool has the timeouts of a request, which are too
      // short for a command.
      await (await connectServer(url.href, log, 1)).close();
      return connectPatiently(url.href, log, terminal.signal);
    }
    case 'embedded': {
      const { pool, close } = await openEmbedded(address.directory, {
        log,
        migrations,
        onFatal: (error) => log.fatal({ err: error }, 'The embedded database died'),
      });
      return { kind: 'embedded', pool, close };
    }
  }
}

/**
 * Waits for a server without a timeout. The signal cuts every connection, so that a command never hangs on a lock or on
 * a server that stopped answering. The server rolls open transactions back.
 */
function connectPatiently(url: string, log: Logger, signal: AbortSignal): Connections {
  const sockets = createOpenSockets();
  const ownLog = log.child({});
  const pool = createPool({ connectionString: url, max: 2, stream: sockets.open }, ownLog);
  const hangUp = (): void => {
    ownLog.level = 'silent';
    sockets.refuse('The command was cancelled.');
  };
  signal.addEventListener('abort', hangUp, { once: true });
  if (signal.aborted) hangUp();
  return {
    kind: 'server',
    pool,
    close: () => pool.end().finally(() => signal.removeEventListener('abort', hangUp)),
  };
}

/** A command cannot use a database that exists only inside the service's process. */
export const inMemoryDatabaseError = (): CommandError =>
  new CommandError(
    'DATA_DIR is "memory:", and an in-memory database ends with its process. Set DATA_DIR or DATABASE_URL.',
  );

/** A human-readable name of a database, without the password. */
export function describeAddress(address: DatabaseAddress): string {
  switch (address.kind) {
    case 'memory':
      return 'a database in memory';
    case 'embedded':
      return `the embedded database in ${resolve(address.directory)}`;
    case 'server': {
      const { hostname, port, pathname } = new URL(address.url);
      return `the database "${decodeURIComponent(pathname.slice(1))}" on ${hostname}:${port === '' ? 5432 : port}`;
    }
  }
}

/** Whether a data directory contains an embedded database. */
export const hasEmbeddedDatabase = (directory: string): boolean =>
  existsSync(join(directory, 'postgres', 'PG_VERSION'));
