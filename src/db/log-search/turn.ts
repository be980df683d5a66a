import type pg from 'pg';

/** Advisory lock of the one instance that gathers, or takes out what is too old. */
const advisoryLock = 72707375;

/**
 * One transaction of whoever has the turn.
 * @returns null when another has it
 */
export async function inTurn<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T | null> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query('BEGIN');
    const turn = await client.query<{ mine: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${advisoryLock}) AS mine`,
    );
    const result = turn.rows[0]?.mine === true ? await work(client) : null;
    await client.query('COMMIT');
    return result;
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    await client.query('ROLLBACK').catch(() => undefined);
    throw failure;
  } finally {
    client.release(failure);
  }
}
