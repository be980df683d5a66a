import type { MiddlewareHandler } from 'hono';
import type { RestEnv } from '../adapter.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads bodies as the UTF-8 that JSON is (RFC 8259 §8.1). By itself the router puts U+FFFD in the place of bytes that
 * are none, so that different passwords become one: input is refused, never repaired (design §5, "Answers").
 */
export const strictUtf8: MiddlewareHandler<RestEnv> = async (c, next) => {
  c.req.json = async () => JSON.parse(utf8.decode(await c.req.arrayBuffer()));
  await next();
};
