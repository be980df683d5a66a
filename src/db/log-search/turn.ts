import type pg from 'pg';
import { inTransaction } from '../in-transaction.ts';

/** Advisory lock of the one instance that gathers, or takes out what is too old. */
const advisoryLock = 72707375;

/**
 * One transaction of whoever has the turn.
 * @returns null when another has it
 */
export const inTurn = <Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result | null> =>
  inTransaction(pool, async (client) => {
    const turn = await client.query<{ mine: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${advisoryLock}) AS mine`,
    );
    return turn.rows[0]?.mine === true ? work(client) : null;
  });
