import { z } from 'zod';
import { id, strictObject } from '../fields.ts';
import { type EventType, typesOf } from '../outbox/types.ts';

/** A type of events, or `license.*` for all that begin with `license.`. */
const pattern = z
  .string()
  .max(100)
  .refine((text) => typesOf(text).length > 0, 'must be a type of events, or a pattern such as license.*');

/** Which events to deliver. */
export const eventSelection = strictObject({
  /** The id of the last event that was received, or the `nextCursor` of a page. */
  after: id.optional(),
  types: z.array(pattern).min(1).max(50).optional(),
  /** Also of a deleted application, because its events outlive it. */
  applicationId: id.optional(),
});

export type EventSelection = z.output<typeof eventSelection>;

/** All types that a selection means; undefined for every type. */
export const selectedTypes = ({ types }: EventSelection): readonly EventType[] | undefined =>
  types && [...new Set(types.flatMap(typesOf))];
