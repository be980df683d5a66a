import type { ServiceContext } from '../context.ts';
import { inReadTurn } from '../developer-turns.ts';
import { type OwnApplications, ownApplications } from '../own-application.ts';

/** A developer's license counts by status. */
export interface LicenseCounts {
  readonly total: number;
  readonly unused: number;
  readonly active: number;
  readonly suspended: number;
  readonly expired: number;
  readonly banned: number;
}

const hour = 60 * 60 * 1000;

/**
 * Counts licenses from the sums that triggers maintain per status and hour of expiry, so that the cost does not depend on
 * the number of licenses. Only licenses that expire in the current hour are read. It is one statement, so the counts are
 * consistent.
 * @param applications the applications to count in; by default all that the caller may see
 */
export async function countLicenses(
  ctx: ServiceContext,
  now: Date,
  { developerId, id }: OwnApplications = ownApplications(ctx.actor),
): Promise<LicenseCounts> {
  const thisHour = Math.floor(now.getTime() / hour);
  const values = [developerId, thisHour, new Date(thisHour * hour), now, id ?? null];
  const { rows } = await inReadTurn(ctx, () =>
    ctx.env.database.pool.query<LicenseCounts>(countStatement, values),
  );
  return rows[0] ?? { total: 0, unused: 0, active: 0, suspended: 0, expired: 0, banned: 0 };
}

/** The hour under which the triggers count suspended licenses, whenever they expire. */
const suspendedHour = '9223372036854775806';

const countStatement = `
  WITH own AS MATERIALIZED (
    SELECT id FROM applications WHERE developer_id = $1 AND ($5::uuid IS NULL OR id = $5)
  ), counted AS (
    SELECT status, expiry_hour, count FROM license_counts WHERE application_id IN (SELECT id FROM own)
    UNION ALL
    SELECT status, expiry_hour, change FROM license_count_changes WHERE application_id IN (SELECT id FROM own)
  ), sums AS (
    SELECT coalesce(sum(count) FILTER (WHERE status = 'unused' AND expiry_hour <> ${suspendedHour}), 0)::int AS unused,
      coalesce(sum(count) FILTER (WHERE status = 'active' AND expiry_hour <> ${suspendedHour}), 0)::int AS stored,
      coalesce(sum(count) FILTER (WHERE expiry_hour = ${suspendedHour}), 0)::int AS suspended,
      coalesce(sum(count) FILTER (WHERE status = 'active' AND expiry_hour < $2), 0)::int AS past,
      coalesce(sum(count) FILTER (WHERE status = 'active' AND expiry_hour = $2), 0)::int AS this_hour,
      coalesce(sum(count) FILTER (WHERE status = 'banned'), 0)::int AS banned
    FROM counted
  ), expired AS (
    -- Skipped if the sums show that there are none.
    SELECT sums.past + (CASE WHEN sums.this_hour = 0 THEN 0 ELSE (
      SELECT count(*)::int FROM own JOIN licenses ON licenses.application_id = own.id
      WHERE licenses.status = 'active' AND licenses.suspended_at IS NULL
        AND licenses.expires_at >= $3 AND licenses.expires_at <= $4
    ) END) AS count FROM sums
  )
  SELECT sums.unused + sums.stored + sums.suspended + sums.banned AS total, sums.unused,
    sums.stored - expired.count AS active, sums.suspended, expired.count AS expired, sums.banned
  FROM sums, expired`;
