import type { Pool } from 'pg';

/** What the metrics say about events. Maintenance measures it every minute, before it numbers what nobody has read. */
export interface EventStats {
  /** Events without a number. */
  waiting: number;
  /** The age of the oldest of them, in seconds. */
  oldestWaitingSeconds: number;
  /** Events that ever got a number, of all accounts that exist. */
  numbered: number;
}

export const noEventStats = (): EventStats => ({ waiting: 0, oldestWaitingSeconds: 0, numbered: 0 });

export async function measureEvents(pool: Pool, stats: EventStats): Promise<void> {
  const { rows } = await pool.query<EventStats>(
    `SELECT count(*)::int AS waiting,
       coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(created_at))), 0)::float8 AS "oldestWaitingSeconds",
       (SELECT coalesce(sum(last_sequence), 0) FROM event_streams)::float8 AS numbered
     FROM events WHERE sequence IS NULL`,
  );
  Object.assign(stats, rows[0]);
}
