import type { Redis, Result } from 'ioredis';
import { z } from 'zod';
import { rateLimitWindowSeconds } from './rate-limits.ts';
import type { RateLimit, RateLimitOutcome } from './store.ts';
import { type Bucket, bucketsOf, foresee, judge, type Windows } from './windows.ts';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    countPoints(...values: readonly (string | number)[]): Result<unknown, Context>;
  }
}

/**
 * Takes so many points from each bucket (`KEYS`, narrowest first), or looks at them for 0, and answers for the first
 * that refuses, or else for the narrowest: its place, what it counted, and its milliseconds. What is refused is not taken
 * from wider buckets; of several points, from none. Atomic, and one command for however many buckets.
 */
const script = `
local window, points, answer = ARGV[1], tonumber(ARGV[2]), nil
for place, key in ipairs(KEYS) do
  local most, counted, refused = tonumber(ARGV[2 + place]), 0, false
  if points == 0 then
    counted = tonumber(redis.call('GET', key) or 0)
    refused = counted >= most
  else
    redis.call('SET', key, 0, 'EX', window, 'NX')
    counted = redis.call('INCRBY', key, points)
    refused = counted > most
  end
  if place == 1 or refused then answer = {place, counted, redis.call('PTTL', key)} end
  if refused then
    if points > 1 then for taken = 1, place do redis.call('DECRBY', KEYS[taken], points) end end
    return answer
  end
end
return answer`;

const answered = z.tuple([z.int(), z.int(), z.int()]);

/** Fixed windows that all instances with this Redis share. What it answers fails as the connection does. */
export function createRedisWindows(redis: Redis, keyPrefix: string): Windows {
  redis.defineCommand('countPoints', { lua: script });

  async function count(limit: RateLimit, key: string, points: number) {
    if (redis.status !== 'ready') throw new Error('the connection is not ready');
    const buckets = bucketsOf(limit, key);
    const [place, counted, milliseconds] = answered.parse(
      await redis.countPoints(
        buckets.length,
        ...buckets.map((bucket) => keyPrefix + bucket.key),
        rateLimitWindowSeconds,
        points,
        ...buckets.map((bucket) => bucket.points),
      ),
    );
    const bucket: Bucket = buckets[place - 1] ?? buckets[0];
    return { bucket, counted: { points: counted, milliseconds } };
  }

  return {
    async consume(limit, key, points = 1): Promise<RateLimitOutcome> {
      const { bucket, counted } = await count(limit, key, points);
      return judge(bucket, counted, points);
    },
    async peek(limit, key): Promise<RateLimitOutcome> {
      const { bucket, counted } = await count(limit, key, 0);
      return foresee(bucket, counted);
    },
  };
}
