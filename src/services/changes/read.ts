import type { Pool } from 'pg';
import { z } from 'zod';
import { type Changes, change } from './change.ts';

/** Up to where changes have been read: the transactions that a look has seen, on which start of which database. */
export interface Position {
  /** A `pg_snapshot` as text: xmin:xmax:xip. */
  readonly snapshot: string;
  /** When the server was started. */
  readonly serverStarted: string;
  /** The database, and its table of changes: both differ after a backup was restored under a running instance. */
  readonly table: string;
}

export interface Look {
  readonly position: Position;
  readonly changes: Changes;
  /** True if the server accepts no writes, such as a standby. */
  readonly isReadOnly: boolean;
  /** The commits that wait for a synchronous standby now, those of other instances too. */
  readonly waitingCommits: readonly WaitingCommit[];
}

/** A commit that waits for a synchronous standby. */
export interface WaitingCommit {
  /** The process id of its backend. */
  readonly backend: number;
  readonly transactionId: string;
}

/**
 * Changes are kept for longer than this, in milliseconds. An instance that has not looked for this long discards
 * everything, because some changes may be deleted.
 */
export const longestGap = 10 * 60 * 1000;

/**
 * With more changes, everything is discarded, so that memory stays bounded. PostgreSQL commits far fewer between two
 * looks, so no developer can make instances discard the licenses of others.
 */
const maxChanges = 10_000;

/**
 * The changes of exactly those transactions that the earlier snapshot did not see. (Ids and times are assigned before the
 * commit: a reader that goes by them misses transactions that commit late.)
 *
 * On a standby, PostgreSQL leaves the transactions under way out of a `pg_snapshot`, so that they seem to be visible. There
 * a look has seen only what is older than all of them: some changes are read twice, and none is missed.
 */
const query = `
  SELECT here.snapshot::text AS snapshot, current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    extract(epoch FROM pg_postmaster_start_time())::text AS "serverStarted",
    concat_ws(' ', (SELECT oid FROM pg_database WHERE datname = current_database()),
      'cache_changes'::regclass::oid, pg_relation_filenode('cache_changes')) AS "table",
    (SELECT coalesce(jsonb_agg(jsonb_build_object('cache', change.cache, 'keys', change.keys)), '[]')
     FROM (
       SELECT cache, keys FROM cache_changes
       WHERE transaction_id >= pg_snapshot_xmin($1::pg_snapshot)
         AND NOT pg_visible_in_snapshot(transaction_id, $1::pg_snapshot)
       LIMIT ${maxChanges + 1}
     ) AS change) AS changes,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('backend', pid, 'transactionId', backend_xid::text)), '[]')
     FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event = 'SyncRep' AND backend_xid IS NOT NULL) AS "waitingCommits"
  FROM (
    SELECT CASE WHEN pg_is_in_recovery() THEN format('%1$s:%1$s:', pg_snapshot_xmin(now.snapshot))::pg_snapshot
      ELSE now.snapshot END AS snapshot
    FROM (SELECT pg_current_snapshot() AS snapshot) AS now
  ) AS here`;

const row = z.object({
  snapshot: z.string().regex(/^\d+:\d+:[\d,]*$/),
  isReadOnly: z.boolean(),
  serverStarted: z.string(),
  table: z.string(),
  changes: z.array(z.unknown()),
  waitingCommits: z.array(z.object({ backend: z.number(), transactionId: z.string() })),
});

const xmax = (snapshot: string): bigint => BigInt(snapshot.split(':')[1] ?? 0);

/** Reads what was committed since `position`; with null, only where to continue from. */
export async function readChanges(pool: Pool, position: Position | null): Promise<Look> {
  const { rows } = await pool.query(query, [position?.snapshot ?? null]);
  const { changes, isReadOnly, waitingCommits, ...now } = row.parse(rows[0]);
  // After a start, the server may be another one, a replica or a backup, and may have lost commits; so may a database that
  // was created or filled anew.
  const isWhole = position !== null && isContinued(position, now) && changes.length <= maxChanges;
  // A later version of the service may write changes that this one cannot read.
  const read = z.array(change).safeParse(changes);
  return { position: now, changes: isWhole && read.success ? read.data : 'all', isReadOnly, waitingCommits };
}

/** True if the transaction ids of the later look continue those of the earlier one. */
export const isContinued = (earlier: Position, later: Position): boolean =>
  earlier.serverStarted === later.serverStarted &&
  earlier.table === later.table &&
  xmax(earlier.snapshot) <= xmax(later.snapshot);
