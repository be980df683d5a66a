import type { Pool } from 'pg';
import { numberEvents } from './number-events.ts';

/** The id of a developer's newest event, also if it was purged; null if there has never been one. */
export async function newestEvent(pool: Pool, developerId: string): Promise<string | null> {
  await numberEvents(pool, developerId);
  const { rows } = await pool.query<{ id: string | null }>(
    `SELECT coalesce(
       (SELECT id FROM events WHERE developer_id = $1 AND sequence IS NOT NULL ORDER BY sequence DESC LIMIT 1),
       (SELECT purged_id FROM event_streams WHERE developer_id = $1)
     ) AS id`,
    [developerId],
  );
  return rows[0]?.id ?? null;
}
