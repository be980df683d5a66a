import type pg from 'pg';
import { advisoryLocks, tryLock } from '../advisory-locks.ts';
import { inTransaction } from '../in-transaction.ts';

/**
 * One transaction of whoever has the turn.
 * @returns null when another has it
 */
export const inTurn = <Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result | null> =>
  inTransaction(pool, async (client) =>
    (await tryLock(client, advisoryLocks.logSearch)) ? work(client) : null,
  );
