import type { MiddlewareHandler } from 'hono';
import type { RestEnv } from '../adapter.ts';
import { parseStrictJson } from '../strict-json.ts';

/**
 * Makes the router's validators parse bodies strictly. An empty body counts as an empty object: many clients declare
 * JSON but send nothing when the body is optional.
 */
export const strictUtf8: MiddlewareHandler<RestEnv> = async (c, next) => {
  c.req.json = async () => {
    const body = await c.req.arrayBuffer();
    return body.byteLength === 0 ? {} : parseStrictJson(body);
  };
  await next();
};
