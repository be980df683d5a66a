import type { Pool } from 'pg';
import { inTransaction, queryWithoutTimeout } from '../../db/in-transaction.ts';
import { lockStreams } from './lock-streams.ts';

/** Streams that one statement examines, and events that one transaction deletes. */
const streamsAtOnce = 1_000;
const eventsAtOnce = 1_000;

const day = 24 * 60 * 60 * 1000;

/**
 * Deletes events that are older than the retention, of each developer from the oldest on, until one that is not. The newest
 * of them remains a good cursor.
 * @param by the time by which to purge; see services/purge-clock.ts
 */
export async function purgeEvents(pool: Pool, by: Date, retentionDays: number): Promise<void> {
  const before = new Date(by.getTime() - retentionDays * day);
  let examined = streamsAtOnce;
  for (let last = lowestId; examined === streamsAtOnce; ) {
    const { rows } = await queryWithoutTimeout<{ id: string; isOld: boolean }>(pool, examine, [last, before]);
    for (const { id } of rows.filter(({ isOld }) => isOld)) await purgeStream(pool, id, before);
    examined = rows.length;
    last = rows.at(-1)?.id ?? last;
  }
}

const lowestId = '00000000-0000-0000-0000-000000000000';

const examine = `
  SELECT developer_id AS id, coalesce((
    SELECT created_at FROM events
    WHERE developer_id = event_streams.developer_id AND sequence > purged_sequence ORDER BY sequence LIMIT 1
  ) < $2, false) AS "isOld"
  FROM event_streams WHERE developer_id > $1 ORDER BY developer_id LIMIT ${streamsAtOnce}`;

async function purgeStream(pool: Pool, developerId: string, before: Date): Promise<void> {
  for (let deleted = eventsAtOnce; deleted === eventsAtOnce; ) {
    deleted = await inTransaction(pool, async (client) => {
      await lockStreams(client, [developerId]);
      const { rows } = await client.query<{ deleted: number }>(purge, [developerId, before]);
      return rows[0]?.deleted ?? 0;
    });
  }
}

const purge = `
  WITH oldest AS MATERIALIZED (
    SELECT id, sequence, bool_and(created_at < $2) OVER (ORDER BY sequence) AS is_old FROM (
      SELECT id, sequence, created_at FROM events
      WHERE developer_id = $1 AND sequence IS NOT NULL ORDER BY sequence LIMIT ${eventsAtOnce}
    ) AS first
  ), deleted AS (
    DELETE FROM events USING oldest WHERE events.id = oldest.id AND is_old RETURNING events.id, events.sequence
  ), stream AS (
    UPDATE event_streams SET purged_sequence = newest.sequence, purged_id = newest.id
    FROM (SELECT id, sequence FROM deleted ORDER BY sequence DESC LIMIT 1) AS newest
    WHERE developer_id = $1
  )
  SELECT count(*)::int AS deleted FROM deleted`;
