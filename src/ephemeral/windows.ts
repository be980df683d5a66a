import { LRUCache } from 'lru-cache';
import { widerNetworks } from '../lib/ip.ts';
import { rateLimitWindowSeconds } from './rate-limits.ts';
import type { EphemeralStore, RateLimit, RateLimitOutcome } from './store.ts';

/** A counter with a limit: of one client, or of a network around it. */
export interface Bucket {
  readonly key: string;
  readonly points: number;
}

/** The bucket that decides a request, and its current window. */
export interface Count {
  readonly bucket: Bucket;
  /** Points counted in this window, including those of the request. */
  readonly counted: number;
  /** Milliseconds until the window ends; negative if no window is open. */
  readonly milliseconds: number;
}

/** Fixed windows, of this process or of all processes that share a Redis. */
export type Windows = Pick<EphemeralStore, 'consume' | 'peek'>;

/**
 * Creates windows that differ only in where they count.
 * @param count takes points from the buckets of a request, narrowest first, or for 0 points only reads them. The first
 *   bucket that refuses decides, or else the narrowest. A refused request takes nothing from wider buckets, so that a
 *   network that floods does not use up its neighbours' points. A refused request for several points takes none at all.
 */
export function createWindows(
  count: (buckets: readonly [Bucket, ...Bucket[]], points: number) => Count | Promise<Count>,
): Windows {
  return {
    consume: async (limit, key, points = 1) => outcomeOf(await count(bucketsOf(limit, key), points), points),
    peek: async (limit, key) => outcomeOf(await count(bucketsOf(limit, key), 0), 0),
  };
}

/** The client's own bucket and those of the wider IPv6 networks. Names have no colon, so keys are unique. */
function bucketsOf(limit: RateLimit, key: string): readonly [Bucket, ...Bucket[]] {
  const wider = widerNetworks(key).map(({ network, times }) => ({
    key: `${limit.name}:${network}`,
    points: limit.points * times,
  }));
  return [{ key: `${limit.name}:${key}`, points: limit.points }, ...wider];
}

/** @param points the points that the request takes; 0 if it only asks whether a point is left */
function outcomeOf(count: Count, points: number): RateLimitOutcome {
  const { bucket, counted, milliseconds } = count;
  const allowed = accepts(count, points);
  // Several points are not taken if they are refused.
  const used = allowed || points <= 1 ? counted : counted - points;
  const seconds = milliseconds < 0 ? rateLimitWindowSeconds : Math.ceil(milliseconds / 1000);
  return {
    allowed,
    limit: bucket.points,
    remaining: Math.max(0, bucket.points - used),
    resetSeconds: Math.min(rateLimitWindowSeconds, Math.max(1, seconds)),
  };
}

const accepts = ({ bucket, counted }: Count, points: number): boolean =>
  points === 0 ? counted < bucket.points : counted <= bucket.points;

/**
 * Creates windows in the memory of this process, at most `maxWindows` at once. Beyond that the oldest is dropped, so one of
 * very many clients regains its points early. Refusing new clients instead would let an attacker with many addresses lock
 * out all others.
 */
export function createMemoryWindows(maxWindows = 100_000): Windows {
  // Entries are read only with `peek`, so the least recently used one is the oldest.
  const windows = new LRUCache<string, { counted: number; readonly endsAt: number }>({ max: maxWindows });

  function take(bucket: Bucket, points: number): Count {
    // The monotonic clock: a wall clock that is set must neither end a window nor extend it.
    const now = performance.now();
    let window = windows.peek(bucket.key);
    if (window === undefined || window.endsAt <= now) {
      window = { counted: 0, endsAt: now + rateLimitWindowSeconds * 1000 };
      if (points > 0) windows.set(bucket.key, window);
    }
    window.counted += points;
    return { bucket, counted: window.counted, milliseconds: window.endsAt - now };
  }

  return createWindows(([first, ...wider], points) => {
    const own = take(first, points);
    const taken = [first];
    let latest = own;
    for (const bucket of wider) {
      if (!accepts(latest, points)) break;
      latest = take(bucket, points);
      taken.push(bucket);
    }
    if (accepts(latest, points)) return own;
    if (points > 1) for (const bucket of taken) take(bucket, -points);
    return latest;
  });
}
