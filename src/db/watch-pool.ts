import type { Pool } from 'pg';
import type { Logger } from '../lib/log.ts';
import { createPool } from './pool.ts';
import { requestLimits } from './session-settings.ts';

/** A server that has not answered for so long counts as away. */
const patienceMilliseconds = 1_000;

/** One connection, apart from those that work, to ask a server whether it is there. */
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
