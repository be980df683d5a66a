import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import type { RestEnv } from '../adapter.ts';

const tooLarge = (): never => {
  throw new HTTPException(413);
};

/**
 * Refuses a larger body before anything reads it. A declared length is believed, as the HTTP parser holds the sender
 * to it; only a chunked body has to be counted, which costs every request a stream.
 */
export function limitBody(maxSize: number): MiddlewareHandler<RestEnv> {
  const countChunks = bodyLimit({ maxSize, onError: tooLarge });
  return async (c, next) => {
    if (c.req.header('transfer-encoding') !== undefined) return countChunks(c, next);
    if (Number(c.req.header('content-length') ?? 0) > maxSize) tooLarge();
    await next();
  };
}
