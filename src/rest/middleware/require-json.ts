import type { MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { RestContext, RestEnv } from '../adapter.ts';

const jsonType = /^application\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i;

/** Whether a request declares a body (RFC 9112 §6). */
export function hasBody(c: RestContext): boolean {
  const length = c.req.header('content-length');
  return c.req.header('transfer-encoding') !== undefined || (length !== undefined && length !== '0');
}

/**
 * Rejects a body that is not declared as JSON. Otherwise an optional body would be silently ignored, and a foreign
 * page's form could post text without a CORS preflight.
 */
export const requireJson: MiddlewareHandler<RestEnv> = async (c, next) => {
  if (hasBody(c) && !jsonType.test(c.req.header('content-type') ?? '')) throw new HTTPException(400);
  await next();
};
