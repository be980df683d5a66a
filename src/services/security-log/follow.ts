import type { z } from 'zod';
import { lowestId } from '../../db/log-partition.ts';
import { type IdsBeginning, idsBeginning, maxCatchUp, newId, timeOfId } from '../../lib/ids.ts';
import { networkOf } from '../../lib/ip.ts';
import { requireDeveloperActor } from '../actor.ts';
import type { Call, ServiceContext } from '../context.ts';
import { id } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { isUnavailable } from '../unavailable.ts';
import { StreamInterrupted, streamOf } from './follower-stream.ts';
import type { Follower } from './followers.ts';
import { securityLogFilter } from './lists.ts';
import { requireMayFollow } from './may-follow.ts';
import { type Position, type Range, readAfter } from './read-after.ts';
import type { SecurityLogEntryRow } from './view.ts';
import { settleMilliseconds } from './watermark.ts';

/** Which entries to follow. */
export const followSecurityLogInput = securityLogFilter
  .pick({ events: true, codes: true, licenseId: true, userId: true })
  .extend({
    /** The id of the last entry seen; without it, the stream starts now. For an id from the future, see `resumeAfter`. */
    after: id.optional(),
  });

type FollowInput = z.input<typeof followSecurityLogInput> & { readonly applicationId: string };

/** The wait before reading again when the latest entries are not settled yet. */
const unsettledMilliseconds = 250;

/** The furthest that a stream goes back for a client with an id from the future. */
const longestRewind = 24 * 60 * 60 * 1000;

/**
 * Where a stream starts for a client that has seen this entry. If the id is further in the future than ids may be, it
 * was generated while a clock was ahead, and later entries have lower ids. The stream then starts where this instance's
 * ids restarted, or at its start, but at most a day ago. It may repeat entries, but it does not stay silent until that
 * future time.
 */
function resumeAfter(after: string): Position {
  const now = timeOfId(newId());
  if (timeOfId(after) <= now + maxCatchUp) return { id: after, included: false };
  return { id: lowestId(Math.max(idsBeginning().at, now - longestRewind)), included: true };
}

/**
 * Streams an application's security log: each entry once, in order of the ids, until the client disconnects. A client
 * that reconnects with the last id it has seen as `after` gets exactly the rest, within the limits that watermark.ts
 * describes. Entries are read on demand: at most a hundred are in memory for a client that does not read.
 *
 * The stream ends with StreamInterrupted when the service stops, cannot verify the session, or the API key was changed,
 * and with UNAUTHENTICATED or APP_NOT_FOUND when the credential has ended or the application was deleted. It waits
 * while the database is unavailable.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND, TOO_MANY_SUBSCRIPTIONS
 */
export async function followSecurityLog({
  ctx,
  input: { applicationId, ...given },
}: Call<FollowInput>): Promise<AsyncIterableIterator<SecurityLogEntryRow>> {
  const actor = requireDeveloperActor(ctx.actor, 'logs:read');
  const { after, ...filter } = parseInput(followSecurityLogInput, given);
  const { followers } = ctx.env.securityLogFeed;
  // Checked before it takes a place, perhaps from another account; and again after, because the credential may have
  // ended.
  await requireMayFollow(ctx, actor, applicationId);
  const beginning = idsBeginning();
  const follower = followers.open(applicationId, actor, networkOf(ctx.client.ip));
  const start = after === undefined ? { id: follower.wakeId, included: true } : resumeAfter(after);
  try {
    await requireMayFollow(ctx, actor, applicationId);
  } catch (error) {
    follower.end();
    throw error;
  }
  const position = { ...start, beginning };
  return streamOf(follower, (hasLeft) => readEntries(ctx, follower, filter, position, hasLeft));
}

async function* readEntries(
  ctx: ServiceContext,
  follower: Follower,
  filter: z.output<typeof securityLogFilter>,
  start: Position & { readonly beginning: IdsBeginning },
  hasLeft: () => boolean,
): AsyncGenerator<SecurityLogEntryRow, undefined> {
  const { watermark, shared, pollMilliseconds } = ctx.env.securityLogFeed;
  const { topic: applicationId, actor } = follower;
  const unsettled = shared ? settleMilliseconds + 50 : unsettledMilliseconds;
  let position: Position = start;
  let { beginning } = start;

  /** After the clock was set back, new entries have ids below those that were read: continues from where ids restarted. */
  function followBeginning(): void {
    if (idsBeginning() === beginning) return;
    beginning = idsBeginning();
    follower.restartIds();
    const from = lowestId(beginning.at);
    if (position.id > from) position = { id: from, included: true };
  }

  const read = async (): Promise<Range & { watermark: string }> => {
    follower.beginCheck();
    if (!(await requireMayFollow(ctx, actor, applicationId))) throw new StreamInterrupted();
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
        // The client may have taken the previous entry long ago.
        interrupted = follower.ending !== undefined || follower.needsCheck;
        if (interrupted) break;
        yield entry;
        position = { id: entry.id, included: false };
      }
      if (interrupted) continue;
      position = range.next;
      if (!range.complete) continue;
      if (range.watermark < follower.wakeId) await follower.pause(unsettled);
      else await follower.wokenBeyond(range.watermark, pollMilliseconds);
    }
    if (!hasLeft()) throw follower.ending.error ?? new StreamInterrupted();
  } finally {
    follower.end();
  }
}
