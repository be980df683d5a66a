import type pg from 'pg';
import { atLeisure } from './in-transaction.ts';

/** Rows per statement. On the embedded database, all other requests wait for a statement. */
const rowsOfSlice = 5_000;

/**
 * Deletes the rows of a table that match a condition, in several statements, so that other requests run in between.
 * There may be millions of rows after a long time without maintenance.
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
