import pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { valueTypes } from './timestamp.ts';

/**
 * The one pool of connections that Prisma and our own SQL share.
 * Every session runs in UTC: the Prisma adapter writes and reads timestamps without their offset.
 */
export function createPool(config: pg.PoolConfig, log: Logger): pg.Pool {
  const pool = new pg.Pool({
    application_name: 'latchkey',
    keepAlive: true,
    types: valueTypes,
    ...config,
    onConnect: async (client) => {
      await client.query(`SET TIME ZONE 'UTC'`);
    },
  });
  // Without a listener, a server that restarts would end this process.
  pool.on('error', (error) => log.warn({ err: error }, 'Lost an idle database connection'));
  return pool;
}
