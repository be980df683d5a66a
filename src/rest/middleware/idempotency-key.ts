import type { MiddlewareHandler } from 'hono';
import { contentHash, Idempotency } from '../../services/idempotency.ts';
import type { RestContext, RestEnv } from '../adapter.ts';

/** Name of the request header field with a client's key for one change. */
export const idempotencyHeader = 'Idempotency-Key';

/** Name of the response header field of an answer that was stored before. */
export const replayedHeader = 'Idempotent-Replayed';

/** The Idempotency-Key of a request, unchecked; null without one. */
export const readIdempotencyKey = (c: RestContext): string | null => c.req.header(idempotencyHeader) ?? null;

/**
 * Prepares a change that has an Idempotency-Key. It runs when the caller is known and the body is bounded. Reads ignore the
 * key, because they may be repeated anyway.
 */
export const withIdempotencyKey: MiddlewareHandler<RestEnv> = async (c, next) => {
  const key = c.req.method === 'GET' ? null : readIdempotencyKey(c);
  const actor = c.get('actor');
  if (key !== null && actor?.type === 'developer') {
    const { method, path } = c.req;
    c.set(
      'idempotency',
      new Idempotency(c.get('env'), actor, {
        key,
        route: `${method} ${path}`,
        content: contentHash(await c.req.text()),
        change: '',
        replayed: () => c.header(replayedHeader, 'true'),
      }),
    );
  }
  await next();
};
