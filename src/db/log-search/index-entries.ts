import type pg from 'pg';
import { blockEntries, newestNotes } from './backlog.ts';
import { inTurn } from './turn.ts';

/**
 * Indexes a batch of an application's newest entries that wait for it, in one transaction. Several instances may do so
 * at once: one works.
 * @param batch how many entries to index, or a few more
 * @returns whether there were some
 */
export async function indexEntries(pool: pg.Pool, applicationId: string, batch: number): Promise<boolean> {
  const indexed = await inTurn(pool, async (client) => {
    // Not of one that is being deleted: what it has goes with it, and nothing may come after.
    const application = await client.query(
      'SELECT FROM applications WHERE id = $1 FOR KEY SHARE SKIP LOCKED',
      [applicationId],
    );
    if (application.rows.length === 0) return false;
    const notes = await newestNotes(client, applicationId, batch);
    if (notes.length === 0) return false;
    // PostgreSQL cannot know how few entries it is to read, and would compile the statement for millions.
    await client.query('SET LOCAL jit = off');
    await client.query(indexNotes, [applicationId, notes]);
    return true;
  });
  return indexed ?? false;
}

/** Two entries that lie further apart, in minutes, are not of one block: who finds one is not to read what is between. */
const widestGap = 60;

const minutesOfWeek = 7 * 24 * 60;

// One snapshot for the notes that go and the entries that are read. A value that is not known, or was last seen in an
// earlier week, is written, so that its id comes back whoever wrote it first; in order, so that two never deadlock.
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
    SELECT *, minute - lag(minute) OVER (ORDER BY id) > ${widestGap} AS is_apart FROM entry
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
