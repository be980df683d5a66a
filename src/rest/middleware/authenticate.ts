import type { MiddlewareHandler } from 'hono';
import { requireDeveloper } from '../../services/actor.ts';
import { authenticate } from '../../services/auth/authenticate.ts';
import type { RestContext, RestEnv } from '../adapter.ts';
import { readSessionCookie } from './session-cookie.ts';

const bearerPattern = /^Bearer +(\S+) *$/i;

/** Finds out who asks, by cookie or bearer key, and notes it; nobody is fine. */
export async function identify(c: RestContext): Promise<void> {
  const bearer = bearerPattern.exec(c.req.header('authorization') ?? '')?.[1] ?? null;
  const credentials = { cookie: readSessionCookie(c), bearer };
  const actor = await authenticate(c.get('env'), credentials, c.get('client').limitKey);
  c.set('actor', actor);
  if (actor.type !== 'developer') return;
  const notes = c.get('notes');
  notes.developerId = actor.developerId;
  notes.credential = actor.via === 'apiKey' ? actor.apiKeyId : 'session';
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
