import type { z } from 'zod';
import { requireDeveloperActor } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { id } from '../fields.ts';
import { isUnavailable } from '../unavailable.ts';
import type { Follower } from './followers.ts';
import { settleMilliseconds } from './horizon.ts';
import type { SecurityLogView } from './list.ts';
import { securityLogFilter } from './lists.ts';
import { requireMayFollow } from './may-follow.ts';
import { type Position, readAfter, type Stretch } from './read-after.ts';

/** Which entries to follow. */
export const followSecurityLogInput = securityLogFilter
  .pick({ events: true, codes: true, licenseId: true, userId: true })
  .extend({
    /** The id of the last entry that was seen; without it, what happens from now on. */
    after: id.optional(),
  });

/** How long news that is not settled yet is given before it is looked for again. */
const unsettledMilliseconds = 250;

/**
 * Follows an application's security log: every entry, in order of its id, each once, until whoever asked goes away.
 * Whoever comes back with the id of the last entry seen as `after` gets exactly the rest, as far as horizon.ts
 * promises. Entries are read as they are asked for: one who does not read holds a hundred of them and no more.
 *
 * It ends without an error when the service stops, and with UNAUTHENTICATED or APP_NOT_FOUND when the credential it
 * was opened with has ended or the application is gone. While the database is away it waits.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND, TOO_MANY_SUBSCRIPTIONS
 */
export async function followSecurityLog({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: z.output<typeof followSecurityLogInput> & { applicationId: string };
}): Promise<AsyncIterableIterator<SecurityLogView>> {
  const actor = requireDeveloperActor(ctx.actor);
  const { applicationId, after, ...filter } = input;
  const { followers } = ctx.env.securityLogFeed;
  const follower = followers.open(applicationId, actor);
  const start =
    after === undefined ? { id: follower.newsId, included: true } : { id: after, included: false };
  try {
    await requireMayFollow(ctx, actor, applicationId);
  } catch (error) {
    follower.end();
    throw error;
  }
  const entries = readEntries(ctx, follower, filter, start);
  const iterator: AsyncIterableIterator<SecurityLogView> = {
    next: () => entries.next(),
    // At once, also while `next` waits for news: a generator alone would queue behind it.
    return: () => {
      follower.end();
      return entries.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
  return iterator;
}

async function* readEntries(
  ctx: ServiceContext,
  follower: Follower,
  filter: z.output<typeof securityLogFilter>,
  start: Position,
): AsyncGenerator<SecurityLogView, undefined> {
  const { horizon, shared, pollMilliseconds } = ctx.env.securityLogFeed;
  const { applicationId, actor } = follower;
  const unsettled = shared ? settleMilliseconds + 50 : unsettledMilliseconds;
  let position = start;

  const read = async (): Promise<Stretch & { horizon: string }> => {
    follower.clearDoubt();
    await requireMayFollow(ctx, actor, applicationId);
    const upTo = horizon.of(applicationId);
    return { ...(await readAfter(ctx, { applicationId, filter }, position, upTo)), horizon: upTo };
  };

  try {
    while (follower.ending === undefined) {
      const stretch = await read().catch((error: unknown) => {
        if (!isUnavailable(error)) throw error;
        return null;
      });
      if (stretch === null) {
        await follower.pause(pollMilliseconds);
        continue;
      }
      let interrupted = false;
      for (const entry of stretch.rows) {
        // The reader may have taken the one before it long ago.
        interrupted = follower.ending !== undefined || follower.isDoubted;
        if (interrupted) break;
        yield entry;
        position = { id: entry.id, included: false };
      }
      if (interrupted) continue;
      position = stretch.next;
      if (!stretch.complete) continue;
      if (stretch.horizon < follower.newsId) await follower.pause(unsettled);
      else await follower.newsBeyond(stretch.horizon, pollMilliseconds);
    }
    if (follower.ending.error !== null) throw follower.ending.error;
  } finally {
    follower.end();
  }
}
