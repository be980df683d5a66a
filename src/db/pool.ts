import type pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { SessionPool } from './session-pool.ts';
import { noLimits, prepareSession, type TimeLimits } from './session-settings.ts';
import { valueTypes } from './timestamp.ts';

/**
 * Creates the connection pool that Prisma and hand-written SQL share. Each session gets the settings that they need,
 * whatever the server, the database or the role has set (session-settings.ts).
 * @param limits timeouts; null for an embedded database
 */
export function createPool(
  config: pg.PoolConfig,
  log: Logger,
  limits: TimeLimits | null = noLimits,
): SessionPool {
  const pool = new SessionPool({
    application_name: 'latchkey',
    keepAlive: true,
    types: valueTypes,
    ...config,
    onConnect: (client) => prepareSession(client, limits),
  });
  // Without this listener, a restart of the server would end this process.
  pool.on('error', (error) => {
    if (!pool.ending) log.warn({ err: error }, 'Lost an idle database connection');
  });
  // The pool does not listen to connections in use: one lost between two statements would end this process too.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
