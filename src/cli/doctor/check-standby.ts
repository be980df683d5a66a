import type { Pool } from 'pg';
import { type Finding, findingsOf } from './finding.ts';

const { ok, fail } = findingsOf('database');

/** A synchronous standby that works confirms a commit in less. */
const maxWaitSeconds = 2;

/**
 * Looks for commits that wait for a synchronous standby.
 * @param maxSeconds how long a commit may wait
 */
export async function checkStandby(pool: Pool, maxSeconds = maxWaitSeconds): Promise<Finding> {
  const { rows } = await pool.query<{ count: number; seconds: number; names: string }>(
    `SELECT count(*)::int AS count, max(extract(epoch FROM clock_timestamp() - query_start))::int AS seconds,
       current_setting('synchronous_standby_names') AS names
     FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event = 'SyncRep'
       AND query_start < clock_timestamp() - make_interval(secs => $1)`,
    [maxSeconds],
  );
  const { count, seconds, names } = rows[0] ?? { count: 0, seconds: 0, names: '' };
  if (count === 0) return ok('No commit waits for a synchronous standby');
  return fail(
    `${count} commits wait for a synchronous standby (synchronous_standby_names is "${names}"), the first for ${seconds} s. ` +
      'Until it confirms them, writes are refused. Start the standby, or, if it does not come back, remove it as an ' +
      'administrator: ALTER SYSTEM SET synchronous_standby_names = ...; SELECT pg_reload_conf(). Do not cancel or terminate ' +
      'these backends: their commits would take effect without a standby that has them.',
  );
}
