import type { MiddlewareHandler } from 'hono';
import { ServiceError } from '../../services/errors.ts';
import type { RestContext, RestEnv } from '../adapter.ts';
import type { AllowedOrigins } from './allowed-origins.ts';
import { readBearer } from './bearer.ts';
import { readSessionCookie } from './session-cookie.ts';

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether an answer may give a cookie or take one: a foreign page could log its visitor in to an account of its own, or
 * out. GraphQL has a path for everything; there a page that sends an API key asks for no cookie, and had to ask the
 * service first whether it may send one.
 */
const mayChangeCookie = (c: RestContext): boolean =>
  c.req.path.startsWith('/api/v1/auth/') || (c.req.path === '/graphql' && readBearer(c) === null);

/**
 * Cross-site request forgery: a browser sends the cookie along with whatever a foreign page posts. An unsafe request
 * that carries it, or that asks for one, must come from this site, from an allowed origin, or from no page at all
 * (design §5, "Cookies"). Where an API key comes with the cookie, `identify` finds out which of the two counts, and
 * refuses then.
 */
export function originGuard(origins: AllowedOrigins): MiddlewareHandler<RestEnv> {
  return async (c, next) => {
    const foreign = safeMethods.has(c.req.method) ? null : origins.foreign(c);
    if (foreign !== null) {
      const byCookieAlone = readSessionCookie(c) !== null && readBearer(c) === null;
      if (byCookieAlone || mayChangeCookie(c)) {
        origins.noteRefused(foreign);
        throw refusedOrigin(foreign);
      }
      c.set('foreignOrigin', foreign);
    }
    await next();
  };
}

/** The refusal of a request by cookie from a foreign page. */
export const refusedOrigin = (origin: string) =>
  new ServiceError(
    'FORBIDDEN',
    `Requests with a session cookie, or for one, are not accepted from ${origin}.`,
  );
