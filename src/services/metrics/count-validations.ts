import { lowestId } from '../../db/log-partition.ts';
import { maxCatchUp } from '../../lib/ids.ts';
import type { ServiceContext } from '../context.ts';
import { inReadTurn } from '../developer-turns.ts';
import { ownApplications } from '../own-application.ts';

/** Number of validations by verdict. */
export interface ValidationCounts {
  readonly total: number;
  /** Verdict code to count; codes that did not occur are omitted. */
  readonly byCode: Readonly<Record<string, number>>;
}

const minute = 60_000;

/**
 * Counts the validations of a developer's applications between two times, by the timestamps of their ids. Validations that
 * were logged while the clock was ahead count only once their time has come. Whole minutes are sums
 * (`validation_counts`); the entries of the first, partial minute are read, of which a thinned log lacks repeats. It is one statement, so the counts are consistent.
 */
export async function countValidations(
  ctx: ServiceContext,
  since: Date,
  now: Date,
): Promise<ValidationCounts> {
  const firstWhole = Math.floor(since.getTime() / minute) + 1;
  const lastWhole = Math.floor((now.getTime() + maxCatchUp) / minute);
  const { developerId, id = null } = ownApplications(ctx.actor);
  const values = [
    developerId,
    firstWhole,
    lowestId(since.getTime()),
    lowestId(firstWhole * minute),
    lastWhole,
    id,
  ];
  const { rows } = await inReadTurn(ctx, () =>
    ctx.env.database.pool.query<{ code: string; count: number }>(countStatement, values),
  );
  return {
    total: rows.reduce((sum, { count }) => sum + count, 0),
    byCode: Object.fromEntries(rows.map(({ code, count }) => [code, count])),
  };
}

// Reads the entries of at most one minute: by the index on developer and id, or by the primary key if there are few others.
const countStatement = `
  SELECT code, sum(count)::int AS count FROM (
    SELECT code, count FROM validation_counts
    WHERE developer_id = $1 AND minute BETWEEN $2 AND $5
      AND application_id IN (SELECT id FROM applications WHERE developer_id = $1 AND ($6::uuid IS NULL OR id = $6))
    UNION ALL
    SELECT coalesce(code, 'UNKNOWN'), 1 FROM security_log
    WHERE developer_id = $1 AND id >= $3 AND id < $4
      AND event = 'license_validated' AND application_id IS NOT NULL AND ($6::uuid IS NULL OR application_id = $6)
  ) AS counted
  GROUP BY code`;
