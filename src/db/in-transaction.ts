import type pg from 'pg';
import { liftStatementTimeout } from './session-settings.ts';

/**
 * Runs one transaction on a connection of the pool, by default without a statement timeout. After a failure the
 * connection is closed and not reused, because its state is unknown.
 * @param begin SQL that begins the transaction and may change its settings
 */
export async function inTransaction<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
  begin = `BEGIN; ${liftStatementTimeout}`,
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

/** Runs one statement without a timeout, for work that no request waits for. */
export const queryWithoutTimeout = <Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  text: string,
  values: unknown[] = [],
): Promise<pg.QueryResult<Row>> => inTransaction(pool, (client) => client.query<Row>(text, values));
