import type { MiddlewareHandler } from 'hono';
import type { RestEnv } from '../adapter.ts';
import { parseStrictJson } from '../strict-json.ts';

/**
 * Has the router's validators read bodies strictly. An empty body is one with no members: many clients declare JSON
 * and send nothing where a body is optional.
 */
export const strictUtf8: MiddlewareHandler<RestEnv> = async (c, next) => {
  c.req.json = async () => {
    const body = await c.req.arrayBuffer();
    return body.byteLength === 0 ? {} : parseStrictJson(body);
  };
  await next();
};
