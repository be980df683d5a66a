import type pg from 'pg';
import { advisoryLocks, tryLock } from '../advisory-locks.ts';
import { inTransaction } from '../in-transaction.ts';

/**
 * Runs one transaction under the lock of log indexing.
 * @returns null if another instance has the lock
 */
export const inTurn = <Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result | null> =>
  inTransaction(pool, async (client) =>
    (await tryLock(client, advisoryLocks.logSearch)) ? work(client) : null,
  );
