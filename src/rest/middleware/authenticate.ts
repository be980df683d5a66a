import type { MiddlewareHandler } from 'hono';
import { isByCookie, requireDeveloper } from '../../services/actor.ts';
import { authenticate } from '../../services/auth/authenticate.ts';
import type { RestContext, RestEnv } from '../adapter.ts';
import { exchangeOf } from '../request-context.ts';
import { readBearer } from './bearer.ts';
import { refusedOrigin } from './origin-guard.ts';
import { readSessionCookie } from './session-cookie.ts';

/**
 * Finds out who asks, by cookie or bearer key, and notes it; an anonymous caller is let through.
 * @throws {ServiceError} FORBIDDEN where a foreign page's change goes by a valid cookie after all
 */
export async function identify(c: RestContext): Promise<void> {
  const credentials = { cookie: readSessionCookie(c), bearer: readBearer(c) };
  const actor = await authenticate(c.get('env'), credentials, c.get('client').limitKey);
  const foreignOrigin = c.get('foreignOrigin');
  if (foreignOrigin !== undefined && isByCookie(actor)) throw refusedOrigin(foreignOrigin);
  c.set('actor', actor);
  if (actor.type !== 'developer') return;
  const notes = c.get('notes');
  notes.developerId = actor.developerId;
  notes.credential = actor.via === 'apiKey' ? actor.apiKeyId : 'session';
  const exchange = exchangeOf(c);
  if (exchange !== null) c.get('env').unreadAnswers.follow(actor.developerId, exchange.outgoing);
}

/** Identifies who asks, and lets everybody through. */
export const identified: MiddlewareHandler<RestEnv> = async (c, next) => {
  await identify(c);
  await next();
};

/** Lets developers alone through: before the body is looked at, so that nobody learns what would be valid. */
export const authenticated: MiddlewareHandler<RestEnv> = async (c, next) => {
  await identify(c);
  requireDeveloper(c.get('actor') ?? { type: 'anonymous', rejected: null });
  await next();
};
