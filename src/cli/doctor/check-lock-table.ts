import type { Pool } from 'pg';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn } = findingsOf('database');

/** How many statements on the whole log may run at once: lists, searches and deletions of some instances. */
const statementsAtOnce = 20;

/**
 * Checks that PostgreSQL has room for the locks of the security log. A statement without a range of time locks every
 * partition and its indexes. When the table of locks is full, statements of all clients fail with `out of shared memory`.
 */
export async function checkLockTable(pool: Pool): Promise<Finding> {
  const { rows } = await pool.query<{ partitions: number; locks: number; each: number; sessions: number }>(
    `SELECT partitions, partitions * (1 + (SELECT count(*) FROM pg_index WHERE indrelid = 'security_log'::regclass))::int AS locks,
       current_setting('max_locks_per_transaction')::int AS each,
       current_setting('max_connections')::int + current_setting('max_prepared_transactions')::int AS sessions
     FROM (SELECT count(*)::int AS partitions FROM pg_inherits WHERE inhparent = 'security_log'::regclass) AS log`,
  );
  const { partitions, locks, each, sessions } = rows[0] ?? { partitions: 0, locks: 0, each: 1, sessions: 1 };
  // Of locks on different things there is room for `each * sessions`; of holders of locks, for twice as many.
  const needed = Math.ceil(Math.max(locks, (locks * statementsAtOnce) / 2) / sessions);
  if (needed <= each) return ok('PostgreSQL has room for the locks of all partitions of the security log');
  return warn(
    `The security log has ${partitions} partitions, and a search of all of them takes ${locks} locks: set ` +
      `max_locks_per_transaction to at least ${needed} (it is ${each}) and restart PostgreSQL, keep the log for a shorter ` +
      'time, or use weekly partitions.',
  );
}
