import { lowestId } from '../../db/log-partition.ts';
import { longestCatchUp } from '../../lib/ids.ts';
import type { ServiceContext } from '../context.ts';
import { inReadTurn } from '../developer-turns.ts';

/** How often clients asked, by verdict. */
export interface ValidationCounts {
  readonly total: number;
  /** Verdict code to count; codes that did not occur are left out. */
  readonly byCode: Readonly<Record<string, number>>;
}

const minute = 60_000;

/**
 * Counts the validations of a developer's applications between two instants, by the time in their ids: what was asked
 * while the clock was ahead is not counted until then. Whole minutes are
 * sums that the log's trigger keeps; the entries of the one that the instant is in are looked at themselves. One
 * statement, so that both are of one moment.
 */
export async function countValidations(
  ctx: ServiceContext,
  developerId: string,
  since: Date,
  now: Date,
): Promise<ValidationCounts> {
  const firstWhole = Math.floor(since.getTime() / minute) + 1;
  const lastWhole = Math.floor((now.getTime() + longestCatchUp) / minute);
  const values = [
    developerId,
    firstWhole,
    lowestId(since.getTime()),
    lowestId(firstWhole * minute),
    lastWhole,
  ];
  const { rows } = await inReadTurn(ctx, () =>
    ctx.env.database.pool.query<{ code: string; count: number }>(countStatement, values),
  );
  return {
    total: rows.reduce((sum, { count }) => sum + count, 0),
    byCode: Object.fromEntries(rows.map(({ code, count }) => [code, count])),
  };
}

// A minute's entries at most: by the index of developer and id, or by the primary key where few others wrote meanwhile.
const countStatement = `
  SELECT code, sum(count)::int AS count FROM (
    SELECT code, count FROM validation_counts
    WHERE developer_id = $1 AND minute BETWEEN $2 AND $5
      AND application_id IN (SELECT id FROM applications WHERE developer_id = $1)
    UNION ALL
    SELECT coalesce(code, 'UNKNOWN'), 1 FROM security_log
    WHERE developer_id = $1 AND id >= $3 AND id < $4
      AND event = 'license_validated' AND application_id IS NOT NULL
  ) AS counted
  GROUP BY code`;
