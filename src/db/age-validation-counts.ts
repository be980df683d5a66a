import type pg from 'pg';
import { deleteInSlices, repeatSlices } from './delete-in-slices.ts';
import { queryWithoutTimeout } from './in-transaction.ts';

const hour = 60;
/** The history of metrics goes back 30 days, the first of which began up to a day earlier. */
const keptMinutes = 31 * 24 * hour;
/** Rows per statement. */
const rowsOfSlice = 5_000;

/**
 * Adds up the validations of each past hour in the row of its first minute, and deletes hours that no metric includes any
 * more. So an application has at most 25 rows a day for each verdict, beside the minutes of about a day. What the last 24
 * hours include is left alone: they are counted to the minute.
 * @param by a time at least a day ago; see services/purge-clock.ts
 */
export async function ageValidationCounts(pool: pg.Pool, by: Date): Promise<void> {
  const minute = Math.floor(by.getTime() / 60_000);
  await deleteInSlices(pool, 'validation_counts', 'minute < $1', minute - keptMinutes);
  // An hour more, so that clocks of instances may differ.
  const wholeHours = Math.floor(minute / hour) * hour - hour;
  await repeatSlices(rowsOfSlice, () => queryWithoutTimeout(pool, addUp, [wholeHours]));
}

// One statement, so that the sums are the same at any time. Of two instances, the second one finds the rows deleted, and
// adds nothing. It adds to the rows in the order of their key, like the log's trigger.
const addUp = `
  WITH minutes AS (
    DELETE FROM validation_counts WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM validation_counts WHERE minute < $1 AND minute % ${hour} <> 0
      LIMIT ${rowsOfSlice} FOR UPDATE SKIP LOCKED))
    RETURNING developer_id, application_id, minute, code, count
  ), added AS (
    INSERT INTO validation_counts AS counted (developer_id, application_id, minute, code, count)
    SELECT developer_id, application_id, minute - minute % ${hour}, code, sum(count) FROM minutes
    GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (developer_id, application_id, minute, code) DO UPDATE SET count = counted.count + excluded.count
  )
  SELECT FROM minutes`;
