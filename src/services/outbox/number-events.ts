import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../../db/in-transaction.ts';
import { lockStreams } from './lock-streams.ts';

/** Maximum number of events, of all developers together, that one transaction numbers. */
const largestBatch = 1_000;

/**
 * Gives numbers to the committed events of developers that have none: 1, 2, 3 … for each developer, without gaps, never
 * changed and never used again.
 *
 * The numbers follow the order of the commits. Whoever numbers locks the developer's stream first, and looks for events in
 * a later statement: what it sees has been committed before everything that it does not see, and gets lower numbers. Of
 * several events that it sees, the position decides: a change that waited for the rows of another inserted its event later.
 * Changes never wait for numbers: they only insert.
 * @returns the number of events that got a number
 */
export async function numberEvents(pool: Pool, developerIds: readonly string[]): Promise<number> {
  let numbered = 0;
  while (await hasUnnumbered(pool, developerIds)) {
    numbered += await inTransaction(pool, (client) => numberBatch(client, developerIds), 'BEGIN');
  }
  return numbered;
}

/**
 * The same for work that no request waits for, without its time limits.
 * @returns the number of events that got a number
 */
export async function numberEventsInBackground(pool: Pool, developerIds: readonly string[]): Promise<number> {
  let numbered = 0;
  for (let batch = largestBatch; batch === largestBatch && developerIds.length > 0; numbered += batch) {
    batch = await inTransaction(pool, (client) => numberBatch(client, developerIds));
  }
  return numbered;
}

/** Cheap: a partial index has only the events without numbers. */
async function hasUnnumbered(pool: Pool, developerIds: readonly string[]): Promise<boolean> {
  const { rows } = await pool.query(
    'SELECT FROM events WHERE developer_id = ANY($1::uuid[]) AND sequence IS NULL LIMIT 1',
    [developerIds],
  );
  return rows.length > 0;
}

async function numberBatch(client: PoolClient, developerIds: readonly string[]): Promise<number> {
  await lockStreams(client, developerIds);
  const { rows } = await client.query<{ numbered: number }>(number, [developerIds, largestBatch]);
  return rows[0]?.numbered ?? 0;
}

const number = `
  WITH next AS MATERIALIZED (
    SELECT id, developer_id, position FROM events
    WHERE developer_id = ANY($1::uuid[]) AND sequence IS NULL ORDER BY position LIMIT $2
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
 * Numbers the events of all developers, so that few wait for their first reader.
 * @param stop checked between developers
 */
export async function numberAllEvents(pool: Pool, stop: AbortSignal): Promise<number> {
  let numbered = 0;
  while (!stop.aborted) {
    const { rows } = await pool.query<{ id: string }>(
      `SELECT DISTINCT developer_id AS id FROM events WHERE sequence IS NULL LIMIT ${developersAtOnce}`,
    );
    if (rows.length === 0) break;
    numbered += await numberEvents(
      pool,
      rows.map(({ id }) => id),
    );
  }
  return numbered;
}
