import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import { type Actor, requireAuthenticated } from '../../services/actor.ts';
import { type RestContext, type RestEnv, serviceContext } from '../adapter.ts';

/** Body limits in bytes. A developer's fits a blind mint of 10,000 hashed keys. */
export const maxBodyBytes = { anonymous: 100 * 1024, developer: 8 * 1024 * 1024 } as const;

const tooLarge = (maxSize: number): never => {
  throw new HTTPException(413, {
    message: `The request body is too large: the limit is ${maxSize.toLocaleString('en-US')} bytes.`,
  });
};

/**
 * Rejects a larger body before it is read. `Content-Length` is reliable, because the HTTP parser enforces it. Only
 * chunked bodies are counted, as counting costs an extra stream.
 * @param maxSize in bytes
 * @param refuse throws the error for a larger body
 */
export function limitBody(
  maxSize: number,
  refuse: (c: RestContext) => never = () => tooLarge(maxSize),
): MiddlewareHandler<RestEnv> {
  const countChunks = bodyLimit({ maxSize, onError: refuse });
  return async (c, next) => {
    if (c.req.header('transfer-encoding') !== undefined) return countChunks(c, next);
    if (Number(c.req.header('content-length') ?? 0) > maxSize) refuse(c);
    await next();
  };
}

/**
 * Limits a body by the caller that `identify` found, so that anonymous callers cannot fill the memory. A caller with a
 * rejected credential gets the authentication error: with a valid one the body may be within the limit.
 * @param sizes in bytes
 */
export function limitBodyByActor(sizes: {
  readonly anonymous: number;
  readonly developer: number;
}): MiddlewareHandler<RestEnv> {
  const limits: Record<Actor['type'], MiddlewareHandler<RestEnv>> = {
    anonymous: limitBody(sizes.anonymous, (c) => {
      const { actor } = serviceContext(c);
      if (actor.type === 'anonymous' && actor.rejected !== null) requireAuthenticated(actor);
      return tooLarge(sizes.anonymous);
    }),
    developer: limitBody(sizes.developer),
  };
  return (c, next) => limits[serviceContext(c).actor.type](c, next);
}
