import type { Prisma } from '../../db/client.ts';
import { newId } from '../../lib/ids.ts';
import { noteEvents } from '../changes/recorded-entries.ts';
import type { NewEvent } from './event.ts';
import { eventSubjects } from './types.ts';

/** SQL for the rows of a JSON text of `eventsAsJson`, as a table `event`. @param json SQL for the text */
export const eventRecords = (json: string): string => `
  jsonb_to_recordset(${json}::jsonb) AS event (place int, id uuid, developer_id uuid, application_id uuid, type text,
    subject_kind text, subject_id uuid, data jsonb, created_at timestamptz)`;

/** The columns of `events` that are inserted. The position is the order of insertion, and readers assign the number. */
export const eventColumns =
  'id, developer_id, application_id, type, subject_kind, subject_id, data, created_at';

/** SQL that inserts the events of `$1`, in their order. */
export const insertEvents = `
  INSERT INTO events (${eventColumns}) SELECT ${eventColumns} FROM ${eventRecords('$1')} ORDER BY place`;

/** An event with the id and the time that it is stored with. */
export interface IdentifiedEvent extends NewEvent {
  readonly id: string;
  readonly createdAt: Date;
}

/** The text of events that happen now. */
export const eventsAsJson = (events: readonly NewEvent[], createdAt: Date): string =>
  identifiedAsJson(events.map((event) => ({ ...event, id: newId(), createdAt })));

export const identifiedAsJson = (events: readonly IdentifiedEvent[]): string =>
  JSON.stringify(
    events.map((event, place) => ({
      place,
      id: event.id,
      developer_id: event.developerId,
      application_id: event.applicationId,
      type: event.type,
      subject_kind: eventSubjects[event.type],
      subject_id: event.subjectId,
      data: event.data,
      created_at: event.createdAt,
    })),
  );

/**
 * Records events in the transaction of their change: both are committed, or neither. Call it after the change has locked
 * its rows: positions rise with every insertion, so of two changes of one thing, the later has the later events. No other
 * change waits for it. Readers are woken by the commit.
 */
export async function recordEvents(
  transaction: Prisma.TransactionClient,
  events: readonly NewEvent[],
  createdAt: Date,
): Promise<void> {
  if (events.length === 0) return;
  for (const { developerId } of events) noteEvents(transaction, developerId);
  await transaction.$executeRawUnsafe(insertEvents, eventsAsJson(events, createdAt));
}
