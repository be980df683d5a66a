import type { Pool } from 'pg';
import { z } from 'zod';
import { type CacheChange, cacheChange } from './cache-change.ts';

/** Up to where the changes have been read: which transactions a look has seen, in which life of which database. */
export interface Position {
  /** A `pg_snapshot`, as text: xmin:xmax:xip. */
  readonly snapshot: string;
  /** When the server was started. */
  readonly serverStarted: string;
  /** Which database, and which table of changes in it: another after a backup was restored beneath this instance. */
  readonly table: string;
}

export interface Look {
  readonly position: Position;
  /** 'all': which they were cannot be told, so that everything is to be forgotten. */
  readonly changes: readonly CacheChange[] | 'all';
}

/**
 * Changes are kept for longer than this, in milliseconds. An instance that has not looked for this long discards its
 * whole cache, because some changes may be deleted.
 */
export const longestGap = 10 * 60 * 1000;

/**
 * With more, everything is forgotten, so that memory stays bounded. Far more than PostgreSQL commits between two looks:
 * no developer can make so many changes that instances forget the licenses of others.
 */
const mostChanges = 10_000;

/**
 * Changes that were committed since, exactly: those of transactions that the earlier snapshot did not see. (Ids and
 * times are given before the commit, so that a reader who goes by them misses what is committed late.)
 */
const query = `
  SELECT here.snapshot::text AS snapshot, pg_postmaster_start_time()::text AS "serverStarted",
    concat_ws(' ', (SELECT oid FROM pg_database WHERE datname = current_database()),
      'cache_changes'::regclass::oid, pg_relation_filenode('cache_changes')) AS "table",
    (SELECT coalesce(jsonb_agg(jsonb_build_object('cache', change.cache, 'keys', change.keys)), '[]')
     FROM (
       SELECT cache, keys FROM cache_changes
       WHERE transaction_id >= pg_snapshot_xmin($1::pg_snapshot)
         AND NOT pg_visible_in_snapshot(transaction_id, $1::pg_snapshot)
       LIMIT ${mostChanges + 1}
     ) AS change) AS changes
  FROM (SELECT pg_current_snapshot() AS snapshot) AS here`;

const row = z.object({
  snapshot: z.string().regex(/^\d+:\d+:[\d,]*$/),
  serverStarted: z.string(),
  table: z.string(),
  changes: z.array(z.unknown()),
});

const xmax = (snapshot: string): bigint => BigInt(snapshot.split(':')[1] ?? 0);

/** What was committed since `position`; with null, where to read on from. */
export async function readChanges(pool: Pool, position: Position | null): Promise<Look> {
  const { rows } = await pool.query(query, [position?.snapshot ?? null]);
  const { changes, ...now } = row.parse(rows[0]);
  // A server that was started anew may be another one, a replica or a backup, and may have lost what was committed; and
  // so may a database that was made or filled anew.
  const isWhole = position !== null && isContinued(position, now) && changes.length <= mostChanges;
  // What another version of the service wrote may not be readable.
  const read = z.array(cacheChange).safeParse(changes);
  return { position: now, changes: isWhole && read.success ? read.data : 'all' };
}

/** True if the transaction ids of the later look continue those of the earlier one. */
export const isContinued = (earlier: Position, later: Position): boolean =>
  earlier.serverStarted === later.serverStarted &&
  earlier.table === later.table &&
  xmax(earlier.snapshot) <= xmax(later.snapshot);
