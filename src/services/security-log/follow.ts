import type { z } from 'zod';
import { lowestId } from '../../db/log-partition.ts';
import { type IdsBeginning, idsBeginning, maxCatchUp, newId, timeOfId } from '../../lib/ids.ts';
import { networkOf } from '../../lib/ip.ts';
import { requireDeveloperActor } from '../actor.ts';
import type { Call, ServiceContext } from '../context.ts';
import { id } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { isUnavailable } from '../unavailable.ts';
import type { Follower } from './followers.ts';
import { securityLogFilter } from './lists.ts';
import { requireMayFollow } from './may-follow.ts';
import { type Position, type Range, readAfter } from './read-after.ts';
import type { SecurityLogView } from './view.ts';
import { settleMilliseconds } from './watermark.ts';

/** Which entries to follow. */
export const followSecurityLogInput = securityLogFilter
  .pick({ events: true, codes: true, licenseId: true, userId: true })
  .extend({
    /** The id of the last entry seen; without it, entries from now on. For an id from the future, see `resumeAfter`. */
    after: id.optional(),
  });

type FollowInput = z.input<typeof followSecurityLogInput> & { readonly applicationId: string };

/** A stream stops here and is not at its end: the reader should come back and go on, perhaps at another instance. */
export class StreamInterrupted extends Error {
  override readonly name = 'StreamInterrupted';
}

/** How long news that is not settled yet is given before it is looked for again. */
const unsettledMilliseconds = 250;

/** How far back a stream begins, at most, if its reader has an id from the future. */
const longestRewind = 24 * 60 * 60 * 1000;

/**
 * Where a stream begins if its reader has seen this entry. An id further in the future than ids may run ahead was made
 * while a clock was ahead. Later entries have lower ids: those that this instance made since ids restarted, or since its
 * start. The stream begins there, and at most a day ago. It may repeat entries that the reader has seen, but it does not
 * stay silent until the future has come.
 */
function resumeAfter(after: string): Position {
  const now = timeOfId(newId());
  if (timeOfId(after) <= now + maxCatchUp) return { id: after, included: false };
  return { id: lowestId(Math.max(idsBeginning().at, now - longestRewind)), included: true };
}

/**
 * Follows an application's security log: every entry, in order of its id, each once, until the client disconnects. A client
 * that returns with the id of the last entry seen as `after` gets exactly the rest, as far as watermark.ts promises. Entries
 * are read on demand: a client that does not read keeps at most a hundred of them in memory.
 *
 * It ends with StreamInterrupted when the service stops or cannot tell whether the session goes on, and with
 * UNAUTHENTICATED or APP_NOT_FOUND when the credential it was opened with has ended or the application is gone. While
 * the database is unavailable it waits.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND, TOO_MANY_SUBSCRIPTIONS
 */
export async function followSecurityLog({
  ctx,
  input: { applicationId, ...given },
}: Call<FollowInput>): Promise<AsyncIterableIterator<SecurityLogView>> {
  const actor = requireDeveloperActor(ctx.actor);
  const { after, ...filter } = parseInput(followSecurityLogInput, given);
  const { followers } = ctx.env.securityLogFeed;
  // Before a place is taken, which may be another account's; and again behind it, as the credential may end in between.
  await requireMayFollow(ctx, actor, applicationId);
  const beginning = idsBeginning();
  const follower = followers.open(applicationId, actor, networkOf(ctx.client.ip));
  const start = after === undefined ? { id: follower.newsId, included: true } : resumeAfter(after);
  try {
    await requireMayFollow(ctx, actor, applicationId);
  } catch (error) {
    follower.end();
    throw error;
  }
  let left = false;
  const entries = readEntries(ctx, follower, filter, { ...start, beginning }, () => left);
  const iterator: AsyncIterableIterator<SecurityLogView> = {
    next: () => entries.next(),
    // At once, also while `next` waits for news: a generator alone would queue behind it.
    return: () => {
      left = true;
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
  start: Position & { readonly beginning: IdsBeginning },
  hasLeft: () => boolean,
): AsyncGenerator<SecurityLogView, undefined> {
  const { watermark, shared, pollMilliseconds } = ctx.env.securityLogFeed;
  const { applicationId, actor } = follower;
  const unsettled = shared ? settleMilliseconds + 50 : unsettledMilliseconds;
  let position: Position = start;
  let { beginning } = start;

  /** After the clock was set back, new entries have ids below those that were read: continues from where ids restarted. */
  function followBeginning(): void {
    if (idsBeginning() === beginning) return;
    beginning = idsBeginning();
    follower.beginAgain();
    const from = lowestId(beginning.at);
    if (position.id > from) position = { id: from, included: true };
  }

  const read = async (): Promise<Range & { watermark: string }> => {
    follower.clearDoubt();
    await requireMayFollow(ctx, actor, applicationId);
    const upTo = watermark.of(applicationId);
    followBeginning();
    return { ...(await readAfter(ctx, { applicationId, filter }, position, upTo)), watermark: upTo };
  };

  try {
    while (follower.ending === undefined) {
      const range = await read().catch((error: unknown) => {
        if (!isUnavailable(error)) throw error;
        return null;
      });
      if (range === null) {
        await follower.pause(pollMilliseconds);
        continue;
      }
      let interrupted = false;
      for (const entry of range.rows) {
        // The reader may have taken the one before it long ago.
        interrupted = follower.ending !== undefined || follower.isDoubted;
        if (interrupted) break;
        yield entry;
        position = { id: entry.id, included: false };
      }
      if (interrupted) continue;
      position = range.next;
      if (!range.complete) continue;
      if (range.watermark < follower.newsId) await follower.pause(unsettled);
      else await follower.newsBeyond(range.watermark, pollMilliseconds);
    }
    if (!hasLeft()) throw follower.ending.error ?? new StreamInterrupted();
  } finally {
    follower.end();
  }
}
