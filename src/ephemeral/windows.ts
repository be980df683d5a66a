import { LRUCache } from 'lru-cache';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { rateLimitWindowSeconds } from './rate-limits.ts';
import type { RateLimit, RateLimitOutcome } from './store.ts';

/** The bucket of a name and client key. Names have no colon, so no two pairs make one key. */
export function bucketKey(limit: RateLimit, key: string): string {
  return `${limit.name}:${key}`;
}

/**
 * Whole seconds until a window ends; never more than a window lasts, whatever the clock says that was set back meanwhile.
 */
const secondsLeft = (milliseconds: number): number =>
  Math.min(rateLimitWindowSeconds, Math.max(1, Math.ceil(milliseconds / 1000)));

/** Judges what a bucket counted, this request included. */
export function judge(limit: RateLimit, counted: RateLimiterRes): RateLimitOutcome {
  return {
    allowed: counted.consumedPoints <= limit.points,
    limit: limit.points,
    remaining: Math.max(0, limit.points - counted.consumedPoints),
    resetSeconds: secondsLeft(counted.msBeforeNext),
  };
}

/** Judges what a further request would find; `counted` is null when no window is open. */
export function foresee(limit: RateLimit, counted: RateLimiterRes | null): RateLimitOutcome {
  // An expired window can still be handed out until its timer has run.
  const open = counted !== null && counted.msBeforeNext > 0 ? counted : null;
  const used = open?.consumedPoints ?? 0;
  return {
    allowed: used < limit.points,
    limit: limit.points,
    remaining: Math.max(0, limit.points - used),
    resetSeconds: secondsLeft(open?.msBeforeNext ?? rateLimitWindowSeconds * 1000),
  };
}

/** Fixed windows in this process's memory. */
export interface MemoryWindows {
  consume(limit: RateLimit, key: string): Promise<RateLimitOutcome>;
  peek(limit: RateLimit, key: string): Promise<RateLimitOutcome>;
}

/**
 * At most `maxWindows` windows are open at once. At the bound the oldest is dropped, so one client
 * of very many regains its points early; refusing instead would let an attacker with many addresses
 * lock everybody else out.
 */
export function createMemoryWindows(maxWindows: number): MemoryWindows {
  // `points` plays no part: every hit is counted by `penalty` and judged against the caller's limit.
  const limiter = new RateLimiterMemory({ points: 1, duration: rateLimitWindowSeconds, keyPrefix: '' });
  // Never read, so the least recently used entry is the window opened first.
  const opened = new LRUCache<string, true>({
    max: maxWindows,
    dispose: (_value, bucket, reason) => {
      if (reason === 'evict') void limiter.delete(bucket);
    },
  });

  return {
    async consume(limit, key) {
      const bucket = bucketKey(limit, key);
      const counted = await limiter.penalty(bucket);
      if (counted.isFirstInDuration) opened.set(bucket, true);
      return judge(limit, counted);
    },

    async peek(limit, key) {
      return foresee(limit, await limiter.get(bucketKey(limit, key)));
    },
  };
}
