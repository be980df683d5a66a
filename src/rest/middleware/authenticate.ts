import type { MiddlewareHandler } from 'hono';
import { isByCookie, requireAuthenticated } from '../../services/actor.ts';
import { authenticate } from '../../services/auth/authenticate.ts';
import type { RestContext, RestEnv } from '../adapter.ts';
import { exchangeOf } from '../request-context.ts';
import { readBearer } from './bearer.ts';
import { refusedOrigin } from './origin-guard.ts';
import { readSessionCookie } from './session-cookie.ts';

/**
 * Identifies the caller by cookie or API key and records the result. Anonymous callers pass.
 * @throws {ServiceError} FORBIDDEN if a foreign page sent both credentials and the cookie is the one that counts;
 *   RATE_LIMITED after too many failed bearer attempts
 */
export async function identify(c: RestContext): Promise<void> {
  const credentials = { cookie: readSessionCookie(c), bearer: readBearer(c) };
  const actor = await authenticate(c.get('env'), credentials, c.get('client'));
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

/** Identifies the caller; anonymous callers pass. */
export const identified: MiddlewareHandler<RestEnv> = async (c, next) => {
  await identify(c);
  await next();
};

/** Requires a developer. It runs before the body is read, so that anonymous callers learn nothing about valid input. */
export const authenticated: MiddlewareHandler<RestEnv> = async (c, next) => {
  await identify(c);
  requireAuthenticated(c.get('actor') ?? { type: 'anonymous', rejected: null });
  await next();
};
