import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { RestEnv } from '../adapter.ts';

/** What a page may read of an answer beside its body. */
const exposed = ['X-Request-Id', 'Retry-After', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

/**
 * Client software may run in any page, and the client protocol trusts no cookie: every origin may call it, without
 * credentials.
 */
export const openToAllPages: MiddlewareHandler<RestEnv> = async (c, next) => {
  if (c.req.header('origin') === undefined) return next();
  c.header('Access-Control-Allow-Origin', '*');
  c.header('Access-Control-Expose-Headers', exposed.join(','));
  if (c.req.method !== 'OPTIONS') return next();
  c.header('Access-Control-Allow-Methods', 'POST');
  c.header('Access-Control-Allow-Headers', 'Content-Type');
  c.header('Access-Control-Max-Age', '600');
  return c.body(null, 204);
};

/**
 * Dashboards on the configured origins may call with the session cookie. A request of no page is left as it is: answers
 * are not stored, so that none has to say that it varies.
 */
export function openToAllowedPages(origins: readonly string[]): MiddlewareHandler<RestEnv> {
  const open = cors({ origin: [...origins], credentials: true, exposeHeaders: exposed });
  return (c, next) => (c.req.header('origin') === undefined ? next() : open(c, next));
}
