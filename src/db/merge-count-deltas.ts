import type pg from 'pg';
import { advisoryLocks } from './advisory-locks.ts';
import { queryWithoutTimeout } from './in-transaction.ts';

/**
 * Merges the recorded changes of license counts into the counts. One statement does it, so the sum of both is always
 * correct for readers. Several instances can call it at the same time: one merges. Counts of zero are deleted.
 * @returns how many changes were merged
 */
export async function mergeLicenseCountDeltas(pool: pg.Pool): Promise<number> {
  const { rows } = await queryWithoutTimeout<{ merged: number }>(pool, merge);
  return rows[0]?.merged ?? 0;
}

// A statement cannot update and delete the same row, so the next call deletes the counts that became zero in this one.
const merge = `
  WITH turn AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock(${advisoryLocks.licenseCounts}) AS mine
  ), changed AS (
    DELETE FROM license_count_changes WHERE (SELECT mine FROM turn)
    RETURNING application_id, status, expiry_hour, change
  ), summed AS (
    SELECT application_id, status, expiry_hour, sum(change) AS change, count(*) AS changes FROM changed
    GROUP BY 1, 2, 3
  ), merged AS (
    INSERT INTO license_counts AS counted (application_id, status, expiry_hour, count)
    SELECT application_id, status, expiry_hour, change FROM summed
    WHERE change <> 0 AND EXISTS (SELECT FROM applications WHERE applications.id = summed.application_id)
    ORDER BY 1, 2, 3
    ON CONFLICT (application_id, status, expiry_hour) DO UPDATE SET count = counted.count + excluded.count
  ), emptied AS (
    DELETE FROM license_counts AS counted
    WHERE count = 0 AND (SELECT mine FROM turn) AND NOT EXISTS (
      SELECT FROM summed WHERE summed.application_id = counted.application_id AND summed.status = counted.status
        AND summed.expiry_hour = counted.expiry_hour AND summed.change <> 0)
  )
  SELECT coalesce(sum(changes), 0)::int AS merged FROM summed`;
