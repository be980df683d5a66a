import { z } from '@hono/zod-openapi';
import { listEvents } from '../../services/event/list.ts';
import { serviceContext } from '../adapter.ts';
import { eventsQuery } from '../events-query.ts';
import {
  createRoute,
  createRouter,
  failures,
  forDevelopers,
  jsonAnswer,
  needs,
  queuedReadCodes,
} from '../route.ts';
import { answer, eventSchema } from '../schemas.ts';

const eventsRoute = createRoute({
  ...forDevelopers,
  tags: ['Events'],
  method: 'get',
  path: '/events',
  operationId: 'listEvents',
  ...needs('events:read'),
  summary: 'List what happened in your account, oldest first, for your other systems',
  description:
    'Begin without `after`, and pass each `nextCursor` as the next `after`: you get every event exactly once, in the ' +
    'order in which the changes were committed. `sequence` numbers your events 1, 2, 3 … without gaps. A page may have ' +
    'fewer events than `limit`, or none; `hasMore` says whether to ask again at once. With `wait`, the request waits for ' +
    'the next event. Events are kept for 30 days, or as long as the operator decides: for a cursor from before, the ' +
    'answer is CURSOR_EXPIRED.',
  request: { query: eventsQuery },
  responses: {
    200: jsonAnswer(
      'A page of events',
      answer({
        events: z.array(eventSchema),
        nextCursor: z.string().nullable().openapi({
          description:
            'The `after` of the next page, also of an empty one; null if there has never been an event.',
        }),
        hasMore: z
          .boolean()
          .openapi({ description: 'Whether there are more events now, which may or may not match.' }),
      }),
    ),
    ...failures(...queuedReadCodes, 'CURSOR_EXPIRED', 'TOO_MANY_SUBSCRIPTIONS'),
  },
});

export const eventRoutes = createRouter().openapi(eventsRoute, async (c) => {
  const { events, ...page } = await listEvents({ ctx: serviceContext(c), input: c.req.valid('query') });
  return c.json({ success: true as const, events: [...events], ...page }, 200);
});
