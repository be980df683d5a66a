import type { z } from 'zod';
import { networkOf } from '../../lib/ip.ts';
import { requireDeveloperActor } from '../actor.ts';
import type { CallOf, ServiceContext } from '../context.ts';
import { inReadTurn } from '../developer-turns.ts';
import type { EventEnvelope } from '../outbox/event.ts';
import { newestEvent } from '../outbox/newest-event.ts';
import type { EventQuery } from '../outbox/read-events.ts';
import { parseInput } from '../parse-input.ts';
import { StreamInterrupted, streamOf } from '../security-log/follower-stream.ts';
import type { Follower } from '../security-log/followers.ts';
import { requireMayFollow } from '../security-log/may-follow.ts';
import { isUnavailable } from '../unavailable.ts';
import { eventSelection, selectedTypes } from './fields.ts';
import { lookForEvents } from './look.ts';
import { readableApplication } from './readable-application.ts';

export const followEventsInput = eventSelection;

/** Events in memory for a client that does not read. */
const eventsAtOnce = 100;

/**
 * Streams events as they are committed: each once, in order of their numbers, until the client disconnects. It begins after
 * an event, or with the next one. A client that reconnects with the last id it has seen as `after` gets exactly the rest.
 *
 * The stream ends with StreamInterrupted when the service stops or cannot verify the session, and with UNAUTHENTICATED when
 * the credential has ended. It waits while the database is unavailable.
 * @throws {ServiceError} UNAUTHENTICATED, CURSOR_EXPIRED, TOO_MANY_SUBSCRIPTIONS, TOO_MANY_READS
 */
export async function followEvents({
  ctx,
  input: given,
}: CallOf<typeof followEventsInput>): Promise<AsyncIterableIterator<EventEnvelope>> {
  const actor = requireDeveloperActor(ctx.actor, 'events:read');
  const input = parseInput(followEventsInput, given);
  const { developerId } = actor;
  const applicationId = readableApplication(actor, input.applicationId);
  const follower = ctx.env.securityLogFeed.followers.open(developerId, actor, networkOf(ctx.client.ip));
  try {
    await requireMayFollow(ctx, actor);
    const query = await queryOf(ctx, developerId, { ...input, applicationId });
    return streamOf(follower, (hasLeft) => readStream(ctx, follower, query, hasLeft));
  } catch (error) {
    follower.end();
    throw error;
  }
}

/** Looks once, so that an expired cursor is an answer and not the end of a stream. */
async function queryOf(
  ctx: ServiceContext,
  developerId: string,
  input: z.output<typeof followEventsInput>,
): Promise<EventQuery> {
  const { pool } = ctx.env.database;
  const query = {
    developerId,
    after: input.after ?? (await inReadTurn(ctx, () => newestEvent(pool, developerId))),
    types: selectedTypes(input),
    applicationId: input.applicationId,
    limit: eventsAtOnce,
  };
  if (input.after !== undefined) await lookForEvents(ctx, { ...query, limit: 1 });
  return query;
}

async function* readStream(
  ctx: ServiceContext,
  follower: Follower,
  query: EventQuery,
  hasLeft: () => boolean,
): AsyncGenerator<EventEnvelope, undefined> {
  const { pollMilliseconds } = ctx.env.securityLogFeed;
  let { after } = query;

  const read = async () => {
    follower.beginCheck();
    if (!(await requireMayFollow(ctx, follower.actor))) throw new StreamInterrupted();
    return lookForEvents(ctx, { ...query, after });
  };

  try {
    while (follower.ending === undefined) {
      const seen = follower.wakeId;
      const page = await read().catch((error: unknown) => {
        if (!isUnavailable(error)) throw error;
        return null;
      });
      if (page === null) {
        await follower.pause(pollMilliseconds);
        continue;
      }
      let interrupted = false;
      for (const event of page.events) {
        // The client may have taken the previous event long ago.
        interrupted = follower.ending !== undefined || follower.needsCheck;
        if (interrupted) break;
        yield event;
        after = event.id;
      }
      if (interrupted) continue;
      after = page.next;
      if (page.complete) await follower.wokenBeyond(seen, pollMilliseconds);
    }
    if (!hasLeft()) throw follower.ending.error ?? new StreamInterrupted();
  } finally {
    follower.end();
  }
}
