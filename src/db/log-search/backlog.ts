import type pg from 'pg';
import { queryWithoutTimeout } from '../in-transaction.ts';

/** Entries per block. A search reads all entries of each block that contains its text. */
export const blockEntries = 256;

/** Fewer waiting entries of an application are not indexed yet, so that blocks are full. Searches scan them. */
export const minEntries = 2 * blockEntries;

/** Ids of the applications with enough entries to index, the ones with the fewest entries first. */
export async function logsToIndex(pool: pg.Pool): Promise<string[]> {
  const { rows } = await queryWithoutTimeout<{ id: string }>(
    pool,
    `SELECT application_id AS id FROM log_search_backlog GROUP BY 1 HAVING sum(entries) >= ${minEntries}
     ORDER BY sum(entries)`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Selects backlog notes with an application's newest entries, up to a batch of entries. A note with more entries than a
 * batch is split in two.
 * @returns their ids; none if there are too few entries to index
 */
export async function newestNotes(
  client: pg.ClientBase,
  applicationId: string,
  batch: number,
): Promise<string[]> {
  const { rows } = await client.query<{ id: string; entries: string }>(newest, [applicationId, batch]);
  const [first] = rows;
  if (first === undefined || Number(first.entries) <= batch) return rows.map(({ id }) => id);
  const cut = await client.query<{ id: string }>(cutNote, [first.id, batch]);
  return [cut.rows[0]?.id ?? first.id];
}

// The first note is always included, however many entries it has.
const newest = `
  SELECT id, entries FROM (
    SELECT id, to_id, entries, sum(entries) OVER (ORDER BY to_id DESC, id DESC) AS together, sum(entries) OVER () AS waiting
    FROM log_search_backlog WHERE application_id = $1
  ) AS note
  WHERE waiting >= ${minEntries} AND (together <= $2 OR together = entries)
  ORDER BY to_id DESC, id DESC`;

// The entry at the cut is in both halves. A note whose real number of entries fits into a batch is not split.
const cutNote = `
  WITH cut AS MATERIALIZED (
    SELECT note.id, note.application_id, note.to_id, (
      SELECT security_log.id FROM security_log
      WHERE application_id = ANY(ARRAY[note.application_id]) AND security_log.id BETWEEN note.from_id AND note.to_id
      ORDER BY application_id DESC, security_log.id DESC OFFSET $2::int LIMIT 1) AS at
    FROM log_search_backlog AS note WHERE note.id = $1
  ), older AS (
    UPDATE log_search_backlog AS note SET to_id = cut.at, entries = greatest(note.entries - $2::int, 1)
    FROM cut WHERE cut.id = note.id AND cut.at IS NOT NULL
  )
  INSERT INTO log_search_backlog (application_id, from_id, to_id, entries)
  SELECT application_id, at, to_id, $2::int FROM cut WHERE at IS NOT NULL
  RETURNING id`;
