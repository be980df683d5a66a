import type { Pool } from 'pg';
import { queryWithoutTimeout } from '../../db/in-transaction.ts';
import { isContinued, longestGap, type Position, readChanges } from './read.ts';

/** Deletes changes from before an instant, by the database's clock: those of instances that ran long ago. */
export async function purgeChanges(pool: Pool, by: Date): Promise<void> {
  await queryWithoutTimeout(pool, 'DELETE FROM cache_changes WHERE changed_at < $1', [by]);
}

/**
 * Deletes the changes that a look has seen, so no clock step can delete them before every instance has read them. It goes
 * by visibility and not by the oldest open transaction, which may stay open for hours.
 */
async function purgeSeen(pool: Pool, { snapshot }: Position): Promise<void> {
  await queryWithoutTimeout(
    pool,
    `DELETE FROM cache_changes WHERE transaction_id < pg_snapshot_xmax($1::pg_snapshot)
       AND pg_visible_in_snapshot(transaction_id, $1::pg_snapshot)`,
    [snapshot],
  );
}

/** How often to call the function of `createChangePurge`, in milliseconds: it deletes changes seen that long ago. */
export const purgeEvery = 2 * longestGap;

/**
 * Each call deletes the changes that existed at the previous call. It uses a pool for work: the connection of the watch
 * must not wait for a deletion.
 */
export function createChangePurge(pool: Pool): () => Promise<void> {
  let seen: Position | null = null;
  return async () => {
    const { position } = await readChanges(pool, null);
    const earlier = seen;
    seen = position;
    if (earlier !== null && isContinued(earlier, position)) await purgeSeen(pool, earlier);
  };
}
