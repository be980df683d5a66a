import type { Redis, Result } from 'ioredis';
import { z } from 'zod';
import { rateLimitWindowSeconds } from './rate-limits.ts';
import { createWindows, type Windows } from './windows.ts';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    countPoints(...values: readonly (string | number)[]): Result<unknown, Context>;
  }
}

/**
 * Counts as `createWindows` describes, atomically and in one command for all buckets.
 * KEYS: the buckets. ARGV: seconds of a window, points to take, then the limit of each bucket.
 * Returns the deciding bucket's place, its count, and the milliseconds until its window ends (-2 if none is open).
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

/** Creates windows that all instances with this Redis share. Fails if the connection does. */
export function createRedisWindows(redis: Redis, keyPrefix: string): Windows {
  redis.defineCommand('countPoints', { lua: script });
  return createWindows(async (buckets, points) => {
    if (redis.status !== 'ready') throw new Error('the connection is not ready');
    const [place, counted, milliseconds] = answered.parse(
      await redis.countPoints(
        buckets.length,
        ...buckets.map((bucket) => keyPrefix + bucket.key),
        rateLimitWindowSeconds,
        points,
        ...buckets.map((bucket) => bucket.points),
      ),
    );
    return { bucket: buckets[place - 1] ?? buckets[0], counted, milliseconds };
  });
}
