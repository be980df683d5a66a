import type { Pool } from 'pg';
import { type EventEnvelope, type EventRow, eventEnvelope } from './event.ts';
import { numberEvents } from './number-events.ts';
import type { EventType } from './types.ts';

/** Which events to read. */
export interface EventQuery {
  readonly developerId: string;
  /** The id of the last event that the reader has seen or skipped; null for the oldest that is kept. */
  readonly after: string | null;
  readonly types?: readonly EventType[] | undefined;
  readonly applicationId?: string | undefined;
  readonly limit: number;
}

export interface EventPage {
  /** In order of their numbers. */
  readonly events: readonly EventEnvelope[];
  /** The `after` of the next page: the last event that was looked at, whether the filter let it pass or not. */
  readonly next: string | null;
  /** Whether there was nothing after `next`. */
  readonly complete: boolean;
}

/** A first reader of a hundred thousand events does not wait until all have numbers. */
const batchesPerRead = 5;
/** Maximum number of events that one statement compares with a filter. */
const maxScanned = 2_000;
/** A page ends after so many stored bytes of data: an event of a mint has up to 500 licenses. */
const maxBytes = 1_000_000;

/**
 * Reads a developer's events after one, in the order of the commits, and numbers those that have no number yet. A reader
 * that continues from `next` each time gets every event once. It costs as much whether there are many older events or none.
 * @returns `expired` if the event of `after` does not exist: it was purged, or the database was restored from a backup of
 *   before
 */
export async function readEvents(pool: Pool, query: EventQuery): Promise<EventPage | 'expired'> {
  const { developerId, after, types, applicationId, limit } = query;
  await numberEvents(pool, developerId, batchesPerRead);
  const isFiltered = types !== undefined || applicationId !== undefined;
  const scanned = isFiltered ? maxScanned : limit;
  const { rows } = await pool.query<FoundRow>(read, [
    developerId,
    after,
    types ?? null,
    applicationId ?? null,
    limit,
    scanned,
    maxBytes,
  ]);
  const [first] = rows;
  if (first === undefined || first.start === null) return 'expired';
  const events = rows.flatMap((row) => (isEvent(row) ? [eventEnvelope(row)] : []));
  if (first.matching > events.length) return { events, next: events.at(-1)?.id ?? after, complete: false };
  return { events, next: first.lastScanned ?? after, complete: first.scanned < scanned };
}

interface Facts {
  /** The number of the event of `after`; null if it does not exist. */
  readonly start: number | null;
  readonly scanned: number;
  /** How many of those that were scanned match. */
  readonly matching: number;
  readonly lastScanned: string | null;
}
/** There is one row without an event if none matches. */
type FoundRow = Facts & (EventRow | { readonly id: null });

const isEvent = (row: FoundRow): row is Facts & EventRow => row.id !== null;

// One statement, so that `start` and what follows it are of one moment: a purge in between would leave a hole.
const read = `
  WITH start AS MATERIALIZED (
    SELECT CASE WHEN $2::uuid IS NULL THEN 0 ELSE coalesce(
      (SELECT sequence FROM events WHERE id = $2 AND developer_id = $1),
      (SELECT purged_sequence FROM event_streams WHERE developer_id = $1 AND purged_id = $2)
    ) END AS sequence
  ), scanned AS MATERIALIZED (
    SELECT id, type, created_at, sequence, application_id, subject_kind, subject_id, data,
      ($3::text[] IS NULL OR type = ANY($3)) AND ($4::uuid IS NULL OR application_id = $4) AS matches
    FROM events WHERE developer_id = $1 AND sequence > (SELECT sequence FROM start) ORDER BY sequence LIMIT $6
  ), facts AS (
    SELECT count(*)::int AS scanned, (count(*) FILTER (WHERE matches))::int AS matching,
      (array_agg(id ORDER BY sequence DESC))[1] AS last_scanned FROM scanned
  ), found AS (
    SELECT *, sum(pg_column_size(data)) OVER (ORDER BY sequence) - pg_column_size(data) AS bytes_before
    FROM scanned WHERE matches
  ), page AS (
    SELECT * FROM found WHERE bytes_before < $7 ORDER BY sequence LIMIT $5
  )
  SELECT start.sequence::float8 AS start, scanned, matching, last_scanned AS "lastScanned",
    page.id, type, created_at AS "createdAt", page.sequence::float8 AS sequence, application_id AS "applicationId",
    subject_kind AS "subjectKind", subject_id AS "subjectId", data
  FROM start CROSS JOIN facts LEFT JOIN page ON true
  ORDER BY page.sequence`;
