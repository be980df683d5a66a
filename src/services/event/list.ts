import { z } from 'zod';
import { networkOf } from '../../lib/ip.ts';
import { type DeveloperActor, requireDeveloperActor } from '../actor.ts';
import type { CallOf, ServiceContext } from '../context.ts';
import type { EventEnvelope } from '../outbox/event.ts';
import type { EventPage, EventQuery } from '../outbox/read-events.ts';
import { parseInput } from '../parse-input.ts';
import { requireMayFollow } from '../security-log/may-follow.ts';
import { eventSelection, selectedTypes } from './fields.ts';
import { lookForEvents } from './look.ts';
import { readableApplication } from './readable-application.ts';

/** Events of a page. */
export const eventPageSize = { fallback: 100, largest: 200 } as const;
/** How long a page may wait for an event, in seconds. Many proxies end a request after 30. */
export const longestWait = 25;

const size = z.int().min(1).max(eventPageSize.largest).default(eventPageSize.fallback);

export const listEventsInput = eventSelection.extend({
  limit: size,
  /** In seconds. */
  wait: z.int().min(0).max(longestWait).default(0),
});

export interface ListedEvents {
  readonly events: readonly EventEnvelope[];
  /** The `after` of the next page; null only if there has never been an event. */
  readonly nextCursor: string | null;
  /** Whether there are more events now, which may or may not match. */
  readonly hasMore: boolean;
}

/** How many times a page without a match looks on, 2,000 events each. */
const mostLooks = 10;

/**
 * Lists events, oldest first, beginning after an event or with the oldest that is kept. If there is none, the page waits for
 * one, and is empty after that time, or when the service stops.
 * @throws {ServiceError} UNAUTHENTICATED, CURSOR_EXPIRED, TOO_MANY_READS, TOO_MANY_SUBSCRIPTIONS
 */
export async function listEvents({ ctx, input }: CallOf<typeof listEventsInput>): Promise<ListedEvents> {
  return list(ctx, parseInput(listEventsInput, input));
}

const firstEventsInput = eventSelection.extend({ first: size });

/** The same by GraphQL's name for the limit, without waiting: GraphQL has streams. */
export async function firstEvents({ ctx, input }: CallOf<typeof firstEventsInput>): Promise<ListedEvents> {
  const { first: limit, ...selection } = parseInput(firstEventsInput, input);
  return list(ctx, { ...selection, limit, wait: 0 });
}

async function list(
  ctx: ServiceContext,
  { wait, limit, ...selection }: z.output<typeof listEventsInput>,
): Promise<ListedEvents> {
  const actor = requireDeveloperActor(ctx.actor, 'events:read');
  const query: EventQuery = {
    developerId: actor.developerId,
    after: selection.after ?? null,
    types: selectedTypes(selection),
    applicationId: readableApplication(actor, selection.applicationId),
    limit,
  };
  const found = await lookOn(ctx, query);
  const page =
    found.events.length > 0 || wait === 0 ? found : await waitForEvents(ctx, actor, query, found, wait);
  return { events: page.events, nextCursor: page.next, hasMore: !page.complete };
}

/** Skips what the filter leaves out, for a while. */
async function lookOn(ctx: ServiceContext, query: EventQuery): Promise<EventPage> {
  let page = await lookForEvents(ctx, query);
  for (let looks = 1; page.events.length === 0 && !page.complete && looks < mostLooks; looks++) {
    page = await lookForEvents(ctx, { ...query, after: page.next });
  }
  return page;
}

async function waitForEvents(
  ctx: ServiceContext,
  actor: DeveloperActor,
  query: EventQuery,
  empty: EventPage,
  seconds: number,
): Promise<EventPage> {
  const { followers, pollMilliseconds } = ctx.env.securityLogFeed;
  const until = performance.now() + seconds * 1000;
  const follower = followers.open(actor.developerId, actor, networkOf(ctx.client.ip));
  const leave = () => follower.end();
  ctx.work?.signal.addEventListener('abort', leave);
  try {
    let page = empty;
    while (follower.ending === undefined) {
      const seen = follower.wakeId;
      follower.beginCheck();
      // What a changed key may read is decided when it asks again.
      if (!(await requireMayFollow(ctx, actor))) return page;
      page = await lookForEvents(ctx, { ...query, after: page.next });
      const left = until - performance.now();
      if (page.events.length > 0 || left <= 0) return page;
      if (page.complete) await follower.wokenBeyond(seen, Math.min(left, pollMilliseconds));
    }
    if (follower.ending.error?.code === 'UNAUTHENTICATED') throw follower.ending.error;
    return page;
  } finally {
    ctx.work?.signal.removeEventListener('abort', leave);
    follower.end();
  }
}
