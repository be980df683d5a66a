import type { Pool } from 'pg';
import { inTransaction } from '../../db/in-transaction.ts';
import { lockStreams } from './lock-streams.ts';

/** Maximum number of events of one developer that one transaction numbers. */
const batch = 1_000;
/** The same while it numbers those of many developers, so that one with a million holds up none of the others. */
const batchOfMany = 50;

/**
 * Gives numbers to the committed events of a developer that have none: 1, 2, 3 … for each developer, without gaps, never
 * changed and never used again.
 *
 * The numbers follow the order of the commits. Whoever numbers locks the developer's stream first, and looks for events in
 * a later statement: what it sees has been committed before everything that it does not see, and gets lower numbers. Of
 * several events that it sees, the position decides: a change that waited for the rows of another inserted its event later.
 * Changes never wait for numbers: they only insert.
 * @param mostBatches of 1,000 events. A reader does not have to number all: it continues with the rest
 */
export async function numberEvents(
  pool: Pool,
  developerId: string,
  mostBatches = Number.POSITIVE_INFINITY,
): Promise<void> {
  for (let left = mostBatches; left > 0 && (await hasUnnumbered(pool, developerId)); left -= 1) {
    await inTransaction(
      pool,
      async (client) => {
        await lockStreams(client, [developerId]);
        await client.query(number, [[developerId], batch]);
      },
      'BEGIN',
    );
  }
}

/** Cheap: a partial index has only the events without numbers. */
async function hasUnnumbered(pool: Pool, developerId: string): Promise<boolean> {
  const { rows } = await pool.query(
    'SELECT FROM events WHERE developer_id = $1 AND sequence IS NULL LIMIT 1',
    [developerId],
  );
  return rows.length > 0;
}

/**
 * The same for some events of many developers, for work that no request waits for. Streams that others have locked are
 * skipped.
 * @returns the number of events that got a number
 */
export async function numberSomeEvents(pool: Pool, developerIds: readonly string[]): Promise<number> {
  if (developerIds.length === 0) return 0;
  return inTransaction(pool, async (client) => {
    const locked = await lockStreams(client, developerIds, 'skip');
    const most = locked.length === 1 ? batch : batchOfMany;
    const { rows } = await client.query<{ numbered: number }>(number, [locked, most]);
    return rows[0]?.numbered ?? 0;
  });
}

const number = `
  WITH next AS MATERIALIZED (
    SELECT found.id, found.developer_id, found.position
    FROM unnest($1::uuid[]) AS stream (developer_id) CROSS JOIN LATERAL (
      SELECT id, developer_id, position FROM events
      WHERE developer_id = stream.developer_id AND sequence IS NULL ORDER BY position LIMIT $2
    ) AS found
  ), numbered AS (
    UPDATE events SET sequence = last_sequence + place
    FROM (SELECT id, developer_id, row_number() OVER (PARTITION BY developer_id ORDER BY position) AS place FROM next) AS placed
      JOIN event_streams USING (developer_id)
    WHERE events.id = placed.id
    RETURNING events.developer_id
  ), stream AS (
    UPDATE event_streams SET last_sequence = last_sequence + added
    FROM (SELECT developer_id, count(*) AS added FROM numbered GROUP BY 1) AS own
    WHERE event_streams.developer_id = own.developer_id
  )
  SELECT count(*)::int AS numbered FROM numbered`;

/** How many developers are numbered together. */
const developersAtOnce = 100;

/**
 * Numbers the events of all developers, so that few wait for their first reader. It leaves streams that others have locked.
 * @param stop checked between batches
 */
export async function numberAllEvents(pool: Pool, stop: AbortSignal): Promise<void> {
  for (let hasNumbered = true; hasNumbered && !stop.aborted; ) {
    // In random order, so that locked ones are not the only ones that are found.
    const { rows } = await pool.query<{ id: string }>(
      `SELECT id FROM (SELECT DISTINCT developer_id AS id FROM events WHERE sequence IS NULL) AS waiting
       ORDER BY random() LIMIT ${developersAtOnce}`,
    );
    const found = rows.map(({ id }) => id);
    hasNumbered = false;
    while (!stop.aborted && (await numberSomeEvents(pool, found)) > 0) hasNumbered = true;
  }
}
