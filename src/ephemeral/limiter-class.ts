import { type IRateLimiterOptions, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { type RateLimitName, rateLimitDefaults } from './rate-limits.ts';
import type { EphemeralStore } from './store.ts';

/** The key that a limiter of this class takes: the name of the limit and the client key in one. */
export function limiterKey(name: RateLimitName, clientKey: string): string {
  return `${name}:${clientKey}`;
}

/**
 * A limiter class for graphql-rate-limit-directive (`limiterClass`) that draws on the store's buckets, so that a
 * GraphQL login and a REST login share one. The directive keeps one limiter for each pair of limit and
 * duration, whatever the name, so the name travels in the key: its `keyGenerator` is to return `limiterKey(…)`.
 * Only `consume` leads to the store.
 */
export function createLimiterClass(
  store: EphemeralStore,
): new (
  options: IRateLimiterOptions,
) => RateLimiterMemory {
  return class StoreLimiter extends RateLimiterMemory {
    override async consume(key: string | number): Promise<RateLimiterRes> {
      const [name, clientKey] = splitKey(String(key));
      const outcome = await store.consume({ name, points: this.points }, clientKey);
      const response = new RateLimiterRes(
        outcome.remaining,
        outcome.resetSeconds * 1000,
        outcome.limit - outcome.remaining,
      );
      // The library's way to say "over the limit": a rejection that is not an Error.
      if (!outcome.allowed) throw response;
      return response;
    }
  };
}

function splitKey(key: string): [RateLimitName, string] {
  const colon = key.indexOf(':');
  const name = key.slice(0, colon);
  if (!isRateLimitName(name)) {
    throw new Error(`The rate-limit key "${key}" names no limit; make keys with limiterKey().`);
  }
  return [name, key.slice(colon + 1)];
}

function isRateLimitName(name: string): name is RateLimitName {
  return Object.hasOwn(rateLimitDefaults, name);
}
