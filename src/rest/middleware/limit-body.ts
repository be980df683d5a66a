import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import { type Actor, requireDeveloper } from '../../services/actor.ts';
import { type RestContext, type RestEnv, serviceContext } from '../adapter.ts';

/** Largest bodies, in bytes: a developer's, so that ten thousand hashed keys of a blind mint fit, and anybody else's. */
export const largestBodies = { anonymous: 100 * 1024, developer: 8 * 1024 * 1024 } as const;

const tooLarge = (maxSize: number): never => {
  const most = maxSize.toLocaleString('en-US');
  throw new HTTPException(413, {
    message: `The request body is too large: at most ${most} bytes are taken here.`,
  });
};

/**
 * Refuses a larger body before anything reads it. A declared length is believed, as the HTTP parser holds the sender
 * to it; only a chunked body has to be counted, which costs every request a stream.
 * @param maxSize in bytes
 * @param refuse throws, for a body that is larger
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
 * Limits a body by who sends it, as far as `identify` has found out: what nobody sends is held in memory by whoever
 * likes. One whose credential was not good learns that, and not that a body is too large which is not.
 * @param sizes in bytes
 */
export function limitBodyByActor(sizes: {
  readonly anonymous: number;
  readonly developer: number;
}): MiddlewareHandler<RestEnv> {
  const limits: Record<Actor['type'], MiddlewareHandler<RestEnv>> = {
    anonymous: limitBody(sizes.anonymous, (c) => {
      const { actor } = serviceContext(c);
      if (actor.type === 'anonymous' && actor.rejected !== null) requireDeveloper(actor);
      return tooLarge(sizes.anonymous);
    }),
    developer: limitBody(sizes.developer),
  };
  return (c, next) => limits[serviceContext(c).actor.type](c, next);
}
