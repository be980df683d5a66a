import type { ServiceContext } from '../context.ts';
import { inReadTurn } from '../developer-turns.ts';
import type { OwnApplications } from '../own-application.ts';
import { type Buckets, inEveryBucket, startOf } from './periods.ts';

/** How often licenses were validated and first used, by bucket. */
export interface UsageCounts {
  /** Only verdicts that occurred, by time and code. */
  readonly validations: readonly { readonly startsAt: Date; readonly code: string; readonly count: number }[];
  /** Every bucket. */
  readonly activations: readonly { readonly startsAt: Date; readonly count: number }[];
}

interface UsageRow {
  readonly bucket: number;
  /** Null for first uses. */
  readonly code: string | null;
  readonly count: number;
}

/**
 * Counts validations and first uses by bucket, in one statement. A bucket is whole hours, so the sums that the log's trigger
 * and maintenance keep are enough, and no entry of the log is read. First uses are counted in the events.
 */
export async function countUsage(
  ctx: ServiceContext,
  { developerId, id }: OwnApplications,
  buckets: Buckets,
): Promise<UsageCounts> {
  const { from, to, bucketSeconds } = buckets;
  const values = [developerId, id ?? null, from, to, bucketSeconds];
  const { rows } = await inReadTurn(ctx, () => ctx.env.database.pool.query<UsageRow>(countStatement, values));
  return {
    validations: rows.flatMap(({ bucket, code, count }) =>
      code === null ? [] : [{ startsAt: startOf(buckets, bucket), code, count }],
    ),
    activations: inEveryBucket(
      buckets,
      rows.filter(({ code }) => code === null),
    ),
  };
}

// The condition on the type is that of the index `events_activated_idx`.
const countStatement = `
  WITH own AS MATERIALIZED (
    SELECT id FROM applications WHERE developer_id = $1 AND ($2::uuid IS NULL OR id = $2)
  ), period AS (
    SELECT (extract(epoch FROM $3::timestamptz) / 60)::int AS first, (extract(epoch FROM $4::timestamptz) / 60)::int AS beyond
  )
  SELECT (minute - first) / ($5::int / 60) AS bucket, code COLLATE "C" AS code, sum(count)::int AS count
  FROM validation_counts, period
  WHERE developer_id = $1 AND application_id IN (SELECT id FROM own) AND minute >= first AND minute < beyond
  GROUP BY 1, 2
  UNION ALL
  SELECT floor(extract(epoch FROM created_at - $3::timestamptz) / $5::int)::int, NULL, count(*)::int FROM events
  WHERE developer_id = $1 AND type = 'license.activated' AND created_at >= $3 AND created_at < $4
    AND application_id IN (SELECT id FROM own)
  GROUP BY 1
  ORDER BY 1, 2`;
