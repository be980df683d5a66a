import type { EventType } from './types.ts';

/** What an event says besides its envelope. It never contains a key, a password or a token. */
export type EventData = Readonly<Record<string, EventValue>>;
type EventValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly EventValue[]
  | { readonly [member: string]: EventValue };

/** An event to record. */
export interface NewEvent {
  readonly developerId: string;
  /** Null for events of the account itself. */
  readonly applicationId: string | null;
  readonly type: EventType;
  /** The id of what the type is about; null if it has none. */
  readonly subjectId: string | null;
  readonly data: EventData;
}

/** An event as it is stored, with its number. */
export interface EventRow {
  readonly id: string;
  readonly type: string;
  readonly createdAt: Date;
  /** 1, 2, 3 … of its developer, in the order of the commits. */
  readonly sequence: number;
  readonly applicationId: string | null;
  readonly subjectKind: string;
  readonly subjectId: string | null;
  readonly data: unknown;
}

/** An event as every receiver gets it: by a page, a stream, or a webhook. */
export interface EventEnvelope {
  readonly id: string;
  readonly type: string;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly sequence: number;
  readonly applicationId: string | null;
  readonly subject: { readonly kind: string; readonly id: string | null };
  readonly data: unknown;
}

/** The only form in which an event leaves the service. */
export const eventEnvelope = (row: EventRow): EventEnvelope => ({
  id: row.id,
  type: row.type,
  timestamp: row.createdAt.toISOString(),
  sequence: row.sequence,
  applicationId: row.applicationId,
  subject: { kind: row.subjectKind, id: row.subjectId },
  data: row.data,
});
