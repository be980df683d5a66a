import type { MiddlewareHandler } from 'hono';
import type { RateLimitName } from '../../ephemeral/rate-limits.ts';
import type { RateLimitOutcome } from '../../ephemeral/store.ts';
import { RateLimitedError } from '../../services/errors.ts';
import type { RestContext, RestEnv } from '../adapter.ts';
import { rateLimitFields, setFields } from '../header-fields.ts';

/**
 * Takes one point from the client's limit of this name, which REST and GraphQL share.
 * @throws {RateLimitedError} RATE_LIMITED if none is left
 */
export async function takePoint(c: RestContext, name: RateLimitName): Promise<RateLimitOutcome> {
  const { store, settings, counts } = c.get('env');
  const outcome = await store.consume({ name, points: settings.rateLimits[name] }, c.get('client').limitKey);
  if (!outcome.allowed) {
    counts.rateLimited.add(name);
    throw new RateLimitedError(outcome);
  }
  return outcome;
}

/** Takes a point before the route runs. */
export function rateLimit(name: RateLimitName): MiddlewareHandler<RestEnv> {
  return async (c, next) => {
    setFields(c, rateLimitFields(await takePoint(c, name)));
    await next();
  };
}
