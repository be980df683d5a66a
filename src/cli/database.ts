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

/** Connections to a database as it is found: nothing has been migrated. */
export interface Connections {
  readonly kind: 'embedded' | 'server';
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

/** What the server knows the connections of commands by; those of the service have other names that begin alike. */
const applicationName = 'latchkey-command';

/** Warnings and errors alone, beside what the command says. */
export const commandLog = ({ env, stderr }: Terminal): Logger =>
  createLogger(env.LOG_LEVEL === 'debug' ? 'debug' : 'warn', stderr);

/**
 * Connects to a database.
 * @param migrations which an embedded database that is not there yet is made with
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
      throw keptNowhere();
    case 'server': {
      const url = new URL(address.url);
      url.searchParams.set('application_name', applicationName);
      // It says what is wrong with a server that cannot be used. Its pool gives up on one that is slow to answer, as
      // a request should, and a command should not.
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
 * Waits for a server as long as it takes, or until the signal: then every connection is cut, so that nobody waits for a
 * lock, or for a server that has fallen silent. The server undoes what a transaction has begun.
 */
function connectPatiently(url: string, log: Logger, signal: AbortSignal): Connections {
  const sockets = createOpenSockets();
  const ownLog = log.child({});
  const pool = createPool({ connectionString: url, max: 2, stream: sockets.open }, ownLog);
  const hangUp = (): void => {
    ownLog.level = 'silent';
    sockets.refuse('The command is to end.');
  };
  signal.addEventListener('abort', hangUp, { once: true });
  if (signal.aborted) hangUp();
  return {
    kind: 'server',
    pool,
    close: () => pool.end().finally(() => signal.removeEventListener('abort', hangUp)),
  };
}

/** A database that ends with its process is of no use to a command. */
export const keptNowhere = (): CommandError =>
  new CommandError(
    'DATA_DIR is "memory:": that database is gone with its process. Set DATA_DIR or DATABASE_URL.',
  );

/** For people: which database a command is about. Never with a password. */
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

/** Whether an embedded database has been made in a data directory. */
export const hasEmbeddedDatabase = (directory: string): boolean =>
  existsSync(join(directory, 'postgres', 'PG_VERSION'));
