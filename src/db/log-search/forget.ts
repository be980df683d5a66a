import type pg from 'pg';
import { repeatSlices } from '../delete-in-slices.ts';
import { lowestId } from '../log-partition.ts';
import { inTurn } from './turn.ts';

/**
 * Deletes search data of dropped entries. If another instance has the lock, the next call does it.
 * @param oldest milliseconds since the Unix epoch; the log has no earlier entries
 */
export async function forgetIndexed(pool: pg.Pool, oldest: number): Promise<void> {
  await inTurn(pool, async (client) => {
    await client.query('DELETE FROM log_search_blocks WHERE to_id < $1', [lowestId(oldest)]);
    await client.query('DELETE FROM log_search_backlog WHERE to_id < $1', [lowestId(oldest)]);
  });
  await repeatSlices(atOnce, () =>
    inTurn(pool, (client) => client.query(forgetValues, [Math.floor(oldest / week)])),
  );
}

const week = 7 * 24 * 60 * 60 * 1000;
const atOnce = 10_000;

const forgetValues = `
  DELETE FROM log_search_values WHERE id = ANY(ARRAY(
    SELECT id FROM log_search_values WHERE seen_week < $1 LIMIT ${atOnce}))`;
