import { lowestId } from '../../db/log-partition.ts';
import type { ServiceContext } from '../context.ts';

/** How often clients asked, by verdict. */
export interface ValidationCounts {
  readonly total: number;
  /** Verdict code to count; codes that did not occur are left out. */
  readonly byCode: Readonly<Record<string, number>>;
}

const minute = 60_000;

/**
 * Counts the validations of a developer's applications since an instant, by the time in their ids. Whole minutes are
 * sums that the log's trigger keeps; the entries of the one that the instant is in are looked at themselves. One
 * statement, so that both are of one moment.
 */
export async function countValidations(
  { env }: ServiceContext,
  developerId: string,
  since: Date,
): Promise<ValidationCounts> {
  const firstWhole = Math.floor(since.getTime() / minute) + 1;
  const { rows } = await env.database.pool.query<{ code: string; count: number }>(countStatement, [
    developerId,
    firstWhole,
    lowestId(since.getTime()),
    lowestId(firstWhole * minute),
  ]);
  return {
    total: rows.reduce((sum, { count }) => sum + count, 0),
    byCode: Object.fromEntries(rows.map(({ code, count }) => [code, count])),
  };
}

// A minute's entries at most: by the index of developer and id, or by the primary key where few others wrote meanwhile.
const countStatement = `
  SELECT code, sum(count)::int AS count FROM (
    SELECT code, count FROM validation_counts
    WHERE developer_id = $1 AND minute >= $2
      AND application_id IN (SELECT id FROM applications WHERE developer_id = $1)
    UNION ALL
    SELECT coalesce(code, 'UNKNOWN'), 1 FROM security_log
    WHERE developer_id = $1 AND id >= $3 AND id < $4
      AND event = 'license_validated' AND application_id IS NOT NULL
  ) AS counted
  GROUP BY code`;
