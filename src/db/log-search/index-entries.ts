import type pg from 'pg';
import { blockEntries, newestNotes } from './backlog.ts';
import { inTurn } from './turn.ts';

/**
 * Indexes a batch of an application's newest waiting entries in one transaction. Several instances can call it at the same
 * time: one indexes.
 * @param batch the approximate number of entries
 * @returns whether anything was indexed
 */
export async function indexEntries(pool: pg.Pool, applicationId: string, batch: number): Promise<boolean> {
  const indexed = await inTurn(pool, async (client) => {
    // Skip an application that is being deleted: its search data goes with it, and none may be added afterwards.
    const application = await client.query(
      'SELECT FROM applications WHERE id = $1 FOR KEY SHARE SKIP LOCKED',
      [applicationId],
    );
    if (application.rows.length === 0) return false;
    const notes = await newestNotes(client, applicationId, batch);
    if (notes.length === 0) return false;
    // The planner overestimates the number of entries by far, and would compile the statement.
    await client.query('SET LOCAL jit = off');
    await client.query(indexNotes, [applicationId, notes]);
    return true;
  });
  return indexed ?? false;
}

/** The maximum gap between two entries of a block, in minutes: a search reads everything within a block's range. */
const maxGap = 60;

const minutesOfWeek = 7 * 24 * 60;

// One statement, so that the deleted notes and the entries come from the same snapshot. Values that are new, or were last
// seen in an earlier week, are upserted: that returns their ids in either case. They are sorted to prevent deadlocks.
const indexNotes = `
  WITH note AS (
    DELETE FROM log_search_backlog WHERE id = ANY($2::bigint[]) RETURNING from_id, to_id
  ), span AS (
    SELECT lower(range) AS from_id, upper(range) AS to_id
    FROM unnest((SELECT range_agg(id_range(from_id, to_id, '[]')) FROM note)) AS range
  ), entry AS (
    SELECT entry.*, minute_of_id(entry.id) AS minute
    FROM span CROSS JOIN LATERAL (
      SELECT id, event, code, ip, country, hwid FROM security_log
      WHERE application_id = ANY(ARRAY[$1::uuid]) AND id BETWEEN span.from_id AND span.to_id
      ORDER BY application_id, id OFFSET 0
    ) AS entry
  ), apart AS (
    SELECT *, minute - lag(minute) OVER (ORDER BY id) > ${maxGap} AS is_apart FROM entry
  ), run AS (
    SELECT *, count(*) FILTER (WHERE is_apart) OVER (ORDER BY id) AS run FROM apart
  ), placed AS MATERIALIZED (
    SELECT *, (row_number() OVER (PARTITION BY run ORDER BY id) - 1) / ${blockEntries} AS block FROM run
  ), held AS MATERIALIZED (
    SELECT run, block, text.value, max(minute) / ${minutesOfWeek} AS week
    FROM placed CROSS JOIN LATERAL (VALUES (event), (code), (ip), (country), (hwid)) AS text (value)
    WHERE text.value <> ''
    GROUP BY 1, 2, 3
  ), wanted AS MATERIALIZED (
    SELECT value, max(week) AS week FROM held GROUP BY 1
  ), known AS MATERIALIZED (
    SELECT stored.id, value FROM wanted CROSS JOIN LATERAL (
      SELECT id, seen_week FROM log_search_values AS stored
      WHERE stored.application_id = $1 AND stored.value = wanted.value OFFSET 0
    ) AS stored
    WHERE stored.seen_week >= wanted.week
  ), noted AS (
    INSERT INTO log_search_values AS stored (application_id, value, seen_week)
    SELECT $1, value, week FROM wanted WHERE value NOT IN (SELECT value FROM known) ORDER BY value
    ON CONFLICT (value, application_id)
    DO UPDATE SET seen_week = greatest(stored.seen_week, excluded.seen_week)
    RETURNING id, value
  ), numbered AS (
    SELECT id, value FROM known UNION ALL SELECT id, value FROM noted
  ), bounds AS (
    SELECT run, block, min(id::text COLLATE "C")::uuid AS from_id, max(id::text COLLATE "C")::uuid AS to_id
    FROM placed GROUP BY 1, 2
  )
  INSERT INTO log_search_blocks (application_id, from_id, to_id, value_ids)
  SELECT $1, from_id, to_id, array_agg(numbered.id ORDER BY numbered.id)
  FROM held JOIN numbered USING (value) JOIN bounds USING (run, block)
  GROUP BY run, block, from_id, to_id`;
