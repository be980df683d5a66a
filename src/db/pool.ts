import pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { noLimits, prepareSession, type TimeLimits } from './session-settings.ts';
import { valueTypes } from './timestamp.ts';

/**
 * The one connection pool that Prisma and our own SQL share. Each session gets the settings that they need, whatever the
 * server, the database or the role has (session-settings.ts).
 * @param limits time limits; null for an embedded database
 */
export function createPool(
  config: pg.PoolConfig,
  log: Logger,
  limits: TimeLimits | null = noLimits,
): pg.Pool {
  const pool = new pg.Pool({
    application_name: 'latchkey',
    keepAlive: true,
    types: valueTypes,
    ...config,
    onConnect: (client) => prepareSession(client, limits),
  });
  // Without a listener, a server that restarts would end this process.
  pool.on('error', (error) => log.warn({ err: error }, 'Lost an idle database connection'));
  // Nor does the pool listen while a connection is taken: lost between two statements, it would do the same.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
