import type pg from 'pg';
import { queryWithoutTimeout } from './in-transaction.ts';

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
  const statement = `DELETE FROM ${table}
    WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${rowsOfSlice}))`;
  await repeatSlices(rowsOfSlice, () => queryWithoutTimeout(pool, statement, [value]));
}

/**
 * Repeats a deletion of at most `size` rows until it finds fewer, or is stopped.
 * @param slice deletes once
 * @param stop checked before each deletion
 * @returns the number of deleted rows
 */
export async function repeatSlices(
  size: number,
  slice: () => Promise<Pick<pg.QueryResult, 'rowCount'> | null>,
  stop?: AbortSignal,
): Promise<number> {
  let deleted = 0;
  while (stop?.aborted !== true) {
    const rows = (await slice())?.rowCount ?? 0;
    deleted += rows;
    if (rows < size) break;
  }
  return deleted;
}
