import { followEvents } from '../../services/event/follow.ts';
import { eventPageSize, firstEvents, type ListedEvents } from '../../services/event/list.ts';
import type { EventEnvelope } from '../../services/outbox/event.ts';
import { builder } from '../builder.ts';
import { breakOffWhenInterrupted } from '../event-stream.ts';
import { withoutNulls } from '../input.ts';

const EventSubject = builder.objectRef<EventEnvelope['subject']>('EventSubject').implement({
  description: 'What an event is about.',
  fields: (t) => ({
    kind: t.exposeString('kind', { description: 'Such as license, device or user.' }),
    id: t.exposeID('id', {
      nullable: true,
      description: 'Its id, even if it was deleted; null if it has none.',
    }),
  }),
});

const EventType = builder.objectRef<EventEnvelope>('Event').implement({
  description:
    'Something that happened in your account, for your other systems. It never contains a license key, a password or a token.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description: 'UUID, the same wherever the event is delivered. Deduplicate by it.',
    }),
    type: t.exposeString('type', { description: 'Such as license.suspended. New types may be added.' }),
    timestamp: t.field({
      type: 'DateTime',
      description: 'When it happened.',
      resolve: ({ timestamp }) => new Date(timestamp),
    }),
    sequence: t.exposeFloat('sequence', {
      description: 'A whole number: 1, 2, 3 … of your account, in the order of the commits, without gaps.',
    }),
    applicationId: t.exposeID('applicationId', {
      nullable: true,
      description:
        'The application that it belongs to, even if it was deleted; null if it is about the account.',
    }),
    subject: t.expose('subject', { type: EventSubject, description: 'What it is about.' }),
    data: t.field({
      type: 'JSONObject',
      description: 'More about it, depending on its type.',
      resolve: ({ data }) => (typeof data === 'object' && data !== null ? data : {}),
    }),
  }),
});

const EventPage = builder.objectRef<ListedEvents>('EventPage').implement({
  description: 'Events, oldest first.',
  fields: (t) => ({
    events: t.field({
      type: [EventType],
      description: 'The events; a page may have fewer than `first`, or none.',
      resolve: ({ events }) => [...events],
    }),
    nextCursor: t.exposeID('nextCursor', {
      nullable: true,
      description:
        'The `after` of the next page, also of an empty one; null if there has never been an event.',
    }),
    hasMore: t.exposeBoolean('hasMore', {
      description: 'Whether there are more events now, which may or may not match.',
    }),
  }),
});

const types = 'Only events of these types; `license.*` for all of licenses.';
const applicationId = 'Only events of this application, which may have been deleted.';

builder.queryField('events', (t) =>
  t.field({
    type: EventPage,
    nullable: true,
    description:
      'Lists what happened in your account, oldest first. Pass each `nextCursor` as the next `after`: you get every event exactly once, in the order in which the changes were committed. For a cursor from before the oldest event that is kept, it is null, with the error CURSOR_EXPIRED.',
    args: {
      after: t.arg.id({
        description: 'A `nextCursor`, or the id of an event. Without it: from the oldest event.',
      }),
      types: t.arg.stringList({ description: types }),
      applicationId: t.arg.id({ description: applicationId }),
      first: t.arg.int({
        description: `How many events to return at most, 1 to ${eventPageSize.largest}; ${eventPageSize.fallback} by default.`,
      }),
    },
    complexity: ({ first }) => ({ field: 1, multiplier: first ?? eventPageSize.fallback }),
    resolve: (_parent, args, { service }) => firstEvents({ ctx: service, input: withoutNulls(args) }),
  }),
);

builder.subscriptionField('events', (t) =>
  t.field({
    type: EventType,
    description: `Streams what happens in your account: every event once, in the order in which the changes were committed. Without \`after\`, the stream starts with the next event.

Keep the id of the last event you received. When the stream ends or the connection breaks, subscribe again with that id as \`after\`: you receive exactly the events after it. An id of this stream, a \`nextCursor\` of a page and the id of a webhook's event are the same cursor. An \`after\` from before the oldest event that is kept is refused with CURSOR_EXPIRED.

The connection closes without \`complete\` when the service stops or cannot verify that you are still logged in: reconnect. The stream ends with UNAUTHENTICATED when the credential that opened it ends. An account can have 20 open streams and waiting requests (TOO_MANY_SUBSCRIPTIONS).`,
    args: {
      after: t.arg.id({ description: 'The id of the last event you received.' }),
      types: t.arg.stringList({ description: types }),
      applicationId: t.arg.id({ description: applicationId }),
    },
    subscribe: async (_parent, args, { service, breakOff }) =>
      breakOffWhenInterrupted(await followEvents({ ctx: service, input: withoutNulls(args) }), breakOff),
    resolve: (event) => event,
  }),
);
