import type { Pool } from 'pg';
import type { Logger } from '../lib/log.ts';
import { createPool } from './pool.ts';
import { requestLimits } from './session-settings.ts';

/** A server that does not answer within this time counts as unavailable. */
const patienceMilliseconds = 1_000;

/** A pool of one separate connection, to check whether a server answers. */
export function createWatchPool(url: string, log: Logger): Pool {
  return createPool(
    {
      connectionString: url,
      application_name: 'latchkey-watch',
      max: 1,
      idleTimeoutMillis: 0,
      connectionTimeoutMillis: patienceMilliseconds,
      query_timeout: patienceMilliseconds,
    },
    log,
    requestLimits,
  );
}
