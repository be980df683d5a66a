import type { MiddlewareHandler } from 'hono';
import type { RateLimitName } from '../../ephemeral/rate-limits.ts';
import { RateLimitedError } from '../../services/errors.ts';
import type { RestEnv } from '../adapter.ts';
import { setRateLimitHeaders } from '../errors.ts';

/** Takes one point from the client's bucket of this name, which GraphQL draws on too. */
export function rateLimit(name: RateLimitName): MiddlewareHandler<RestEnv> {
  return async (c, next) => {
    const { store, settings } = c.get('env');
    const outcome = await store.consume(
      { name, points: settings.rateLimits[name] },
      c.get('client').limitKey,
    );
    if (!outcome.allowed) throw new RateLimitedError(outcome);
    setRateLimitHeaders(c, outcome);
    await next();
  };
}
