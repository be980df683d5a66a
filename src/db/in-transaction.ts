import type pg from 'pg';
import { takeTime } from './session-settings.ts';

/**
 * One transaction on a connection of the pool, for work of the service itself: its statements may take as long as they
 * have to. After a failure the connection is closed, not reused, as nobody knows
 * what state it is in.
 * @param begin SQL that begins it, and may set what is its own, in one message
 */
export async function inTransaction<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
  begin = `BEGIN; ${takeTime}`,
): Promise<Result> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query(begin);
    const result = await work(client);
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

/** A statement of the service itself, which may take as long as it has to. */
export const atLeisure = <Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  text: string,
  values: unknown[] = [],
): Promise<pg.QueryResult<Row>> => inTransaction(pool, (client) => client.query<Row>(text, values));
