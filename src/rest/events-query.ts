import { z } from '@hono/zod-openapi';
import { eventPageSize, listEventsInput, longestWait } from '../services/event/list.ts';
import { strictObject } from '../services/fields.ts';

const wholeNumber = z
  .string()
  .regex(/^\d{1,6}$/, 'must be a whole number')
  .transform(Number)
  .optional();

/** Query parameters of a page of events; converts the numbers, and splits the types. */
export const eventsQuery = strictObject({
  after: z.string().optional().openapi({
    format: 'uuid',
    description:
      'The `nextCursor` of the previous page, or the id of an event. Without it: from the oldest event.',
  }),
  types: z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .optional()
    .openapi({
      type: 'string',
      description: 'Only events of these types, separated by commas; `license.*` for all of licenses.',
      example: 'license.*,device.moved',
    }),
  applicationId: z.string().optional().openapi({
    format: 'uuid',
    description: 'Only events of this application.',
  }),
  limit: wholeNumber.openapi({
    type: 'integer',
    minimum: 1,
    maximum: eventPageSize.largest,
    default: eventPageSize.fallback,
  }),
  wait: wholeNumber.openapi({
    type: 'integer',
    minimum: 0,
    maximum: longestWait,
    default: 0,
    description: 'How many seconds the request waits for the next event.',
  }),
}).pipe(listEventsInput);
