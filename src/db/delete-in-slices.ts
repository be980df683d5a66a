import type pg from 'pg';
import { atLeisure } from './in-transaction.ts';

/** How many rows one statement deletes: on the embedded database every other request waits for it. */
const rowsOfSlice = 5_000;

/**
 * Deletes the rows of a table that match a condition, a slice at a time, so that other requests run in between: after a
 * long time without maintenance there may be millions.
 * @param condition SQL, with `$1` for the value
 */
export async function deleteInSlices(
  pool: pg.Pool,
  table: string,
  condition: string,
  value: unknown,
): Promise<void> {
  let deleted: number | null;
  do {
    const { rowCount } = await atLeisure(
      pool,
      `DELETE FROM ${table} WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${rowsOfSlice}))`,
      [value],
    );
    deleted = rowCount;
  } while (deleted === rowsOfSlice);
}
