import pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { valueTypes } from './timestamp.ts';

/**
 * The one pool of connections that Prisma and our own SQL share.
 * Every session runs in UTC: the Prisma adapter writes and reads timestamps without their offset.
 * @param settings more that a session starts with, as SQL that follows `SET`
 */
export function createPool(config: pg.PoolConfig, log: Logger, settings: readonly string[] = []): pg.Pool {
  const start = [`TIME ZONE 'UTC'`, ...settings].map((setting) => `SET ${setting}`).join('; ');
  const pool = new pg.Pool({
    application_name: 'latchkey',
    keepAlive: true,
    types: valueTypes,
    ...config,
    onConnect: async (client) => {
      await client.query(start);
    },
  });
  // Without a listener, a server that restarts would end this process.
  pool.on('error', (error) => log.warn({ err: error }, 'Lost an idle database connection'));
  // Nor does the pool listen while a connection is taken: lost between two statements, it would do the same.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** For work that may wait for locks as long as it takes: of the session, so its connection is not to be reused. */
export const waitForLocks = 'SET lock_timeout = 0';
