import type { ServiceContext } from '../context.ts';
import { inReadTurn } from '../developer-turns.ts';
import type { OwnApplications } from '../own-application.ts';
import { inEveryBucket } from './periods.ts';

/** How many days ahead expiries are counted. */
export const expiryDays = 90;

const hour = 60 * 60 * 1000;
const day = 24 * hour;

/**
 * Counts the active licenses that will expire, for each of the next days in UTC, of which today is the first. It reads the
 * sums per hour of expiry (see count-licenses.ts), and licenses only if some expire in the current hour.
 */
export async function countExpiries(
  ctx: ServiceContext,
  { developerId, id }: OwnApplications,
  now: Date,
): Promise<readonly { readonly day: Date; readonly count: number }[]> {
  const from = new Date(Math.floor(now.getTime() / day) * day);
  const firstHour = from.getTime() / hour;
  const thisHour = Math.floor(now.getTime() / hour);
  const nextHour = new Date((thisHour + 1) * hour);
  const values = [developerId, id ?? null, firstHour, thisHour, firstHour + expiryDays * 24, now, nextHour];
  const { rows } = await inReadTurn(ctx, () =>
    ctx.env.database.pool.query<{ bucket: number; count: number }>(countStatement, values),
  );
  return inEveryBucket({ from, bucketSeconds: day / 1000, buckets: expiryDays }, rows).map(
    ({ startsAt, count }) => ({ day: startsAt, count }),
  );
}

const countStatement = `
  WITH own AS MATERIALIZED (
    SELECT id FROM applications WHERE developer_id = $1 AND ($2::uuid IS NULL OR id = $2)
  ), counted AS (
    SELECT expiry_hour, count FROM license_counts
    WHERE application_id IN (SELECT id FROM own) AND status = 'active' AND expiry_hour >= $4 AND expiry_hour < $5
    UNION ALL
    SELECT expiry_hour, change FROM license_count_changes
    WHERE application_id IN (SELECT id FROM own) AND status = 'active' AND expiry_hour >= $4 AND expiry_hour < $5
  ), sums AS (
    SELECT expiry_hour, sum(count)::int AS count FROM counted GROUP BY 1 HAVING sum(count) <> 0
  )
  SELECT ((expiry_hour - $3) / 24)::int AS bucket, sum(CASE WHEN expiry_hour > $4 THEN count ELSE (
    -- Without those that have expired in this hour.
    SELECT count(*)::int FROM own JOIN licenses ON licenses.application_id = own.id
    WHERE licenses.status = 'active' AND licenses.suspended_at IS NULL
      AND licenses.expires_at > $6 AND licenses.expires_at < $7
  ) END)::int AS count
  FROM sums GROUP BY 1`;
