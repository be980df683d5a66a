import type { MiddlewareHandler } from 'hono';
import { ServiceError } from '../../services/errors.ts';
import type { RestContext, RestEnv } from '../adapter.ts';
import type { AllowedOrigins } from './allowed-origins.ts';
import { readBearer } from './bearer.ts';
import { readSessionCookie } from './session-cookie.ts';

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether the response may set or clear the session cookie: a foreign page could log its visitor out, or in to the
 * attacker's account. All GraphQL operations share one path; requests with an API key are exempt there, because they
 * need no cookie and had to pass a CORS preflight.
 */
const mayChangeCookie = (c: RestContext): boolean =>
  c.req.path.startsWith('/api/v1/auth/') || (c.req.path === '/graphql' && readBearer(c) === null);

/**
 * Prevents cross-site request forgery: browsers attach the cookie to requests of foreign pages. An unsafe request that
 * carries the cookie, or may set it, must come from this site, from an allowed origin, or from outside a browser. If an
 * API key accompanies the cookie, `identify` decides which one counts and rejects the request if it is the cookie.
 */
export function originGuard(origins: AllowedOrigins): MiddlewareHandler<RestEnv> {
  return async (c, next) => {
    const foreign = safeMethods.has(c.req.method) ? null : origins.foreign(c);
    if (foreign !== null) {
      const byCookieAlone = readSessionCookie(c) !== null && readBearer(c) === null;
      if (byCookieAlone || mayChangeCookie(c)) {
        origins.logRefused(foreign);
        throw refusedOrigin(foreign);
      }
      c.set('foreignOrigin', foreign);
    }
    await next();
  };
}

/** The error for a cookie-authenticated request from a foreign page. */
export const refusedOrigin = (origin: string) =>
  new ServiceError(
    'FORBIDDEN',
    `Requests that use or set the session cookie are not accepted from ${origin}.`,
  );
