import { LRUCache } from 'lru-cache';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { widerNetworks } from '../lib/ip.ts';
import { rateLimitWindowSeconds } from './rate-limits.ts';
import type { RateLimit, RateLimitOutcome } from './store.ts';

/** What is counted under one key, and the most that it may come to in a window. */
export interface Bucket {
  readonly key: string;
  readonly points: number;
}

/** What a bucket has counted in the window that is open, and how long that is open still. */
export interface Counted {
  readonly points: number;
  readonly milliseconds: number;
}

/**
 * The buckets of a name and key: its own, and those of the wider IPv6 networks that it lies in, which a point is taken
 * from as well. Each is asked only when those before it have let the point through, so that a network which is refused
 * does not use up what its neighbours share with it. Names have no colon, so no two pairs make one key.
 */
export function bucketsOf(limit: RateLimit, key: string): readonly [Bucket, ...Bucket[]] {
  const wider = widerNetworks(key).map(({ network, times }) => ({
    key: `${limit.name}:${network}`,
    points: limit.points * times,
  }));
  return [{ key: `${limit.name}:${key}`, points: limit.points }, ...wider];
}

/**
 * Whole seconds until a window ends; never more than a window lasts, whatever the clock says that was set back meanwhile.
 */
const secondsLeft = (milliseconds: number): number =>
  Math.min(rateLimitWindowSeconds, Math.max(1, Math.ceil(milliseconds / 1000)));

/**
 * Judges what a bucket counted.
 * @param taking the points that were counted last, which several are only where all of them are let through
 */
export function judge(bucket: Bucket, counted: Counted, taking: number): RateLimitOutcome {
  const allowed = counted.points <= bucket.points;
  const used = allowed || taking === 1 ? counted.points : counted.points - taking;
  return {
    allowed,
    limit: bucket.points,
    remaining: Math.max(0, bucket.points - used),
    resetSeconds: secondsLeft(counted.milliseconds),
  };
}

/** Judges what a further request would find. */
export function foresee(bucket: Bucket, counted: Counted): RateLimitOutcome {
  // An expired window can still be handed out until its timer has run.
  const used = counted.milliseconds > 0 ? counted.points : 0;
  return {
    allowed: used < bucket.points,
    limit: bucket.points,
    remaining: Math.max(0, bucket.points - used),
    resetSeconds: secondsLeft(
      counted.milliseconds > 0 ? counted.milliseconds : rateLimitWindowSeconds * 1000,
    ),
  };
}

/** Fixed windows, of this process or of all that share a Redis. */
export interface Windows {
  consume(limit: RateLimit, key: string, points?: number): Promise<RateLimitOutcome>;
  peek(limit: RateLimit, key: string): Promise<RateLimitOutcome>;
}

/**
 * At most `maxWindows` windows are open at once. At the bound the oldest is dropped, so one client
 * of very many regains its points early; refusing instead would let an attacker with many addresses
 * lock everybody else out.
 */
export function createMemoryWindows(maxWindows: number): Windows {
  // `points` plays no part: every hit is counted by `penalty` and judged against the caller's limit.
  const limiter = new RateLimiterMemory({ points: 1, duration: rateLimitWindowSeconds, keyPrefix: '' });
  // Never read, so the least recently used entry is the window opened first.
  const opened = new LRUCache<string, true>({
    max: maxWindows,
    dispose: (_value, bucket, reason) => {
      if (reason === 'evict') void limiter.delete(bucket);
    },
  });

  async function take(bucket: Bucket, points: number): Promise<RateLimitOutcome> {
    const counted = await limiter.penalty(bucket.key, points);
    if (counted.isFirstInDuration) opened.set(bucket.key, true);
    return judge(bucket, { points: counted.consumedPoints, milliseconds: counted.msBeforeNext }, points);
  }

  async function look(bucket: Bucket): Promise<RateLimitOutcome> {
    const counted = await limiter.get(bucket.key);
    return foresee(bucket, {
      points: counted?.consumedPoints ?? 0,
      milliseconds: counted?.msBeforeNext ?? 0,
    });
  }

  return {
    async consume(limit, key, points = 1) {
      const [own, ...wider] = bucketsOf(limit, key);
      const outcome = await take(own, points);
      const taken = [own];
      let refused = outcome.allowed ? undefined : outcome;
      for (const bucket of wider) {
        if (refused !== undefined) break;
        const further = await take(bucket, points);
        taken.push(bucket);
        if (!further.allowed) refused = further;
      }
      if (refused !== undefined && points > 1) {
        for (const bucket of taken) await limiter.reward(bucket.key, points);
      }
      return refused ?? outcome;
    },

    async peek(limit, key) {
      const [own, ...wider] = bucketsOf(limit, key);
      const outcome = await look(own);
      for (const bucket of wider) {
        const further = await look(bucket);
        if (outcome.allowed && !further.allowed) return further;
      }
      return outcome;
    },
  };
}
