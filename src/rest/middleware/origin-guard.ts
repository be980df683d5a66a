import type { MiddlewareHandler } from 'hono';
import { ServiceError } from '../../services/errors.ts';
import type { RestContext, RestEnv } from '../adapter.ts';
import { readSessionCookie } from './session-cookie.ts';

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether an answer may give a cookie or take one: a foreign page could log its visitor in to an account of its own, or
 * out. GraphQL has a path for everything; there a page that sends an API key asks for no cookie, and had to ask the
 * service first whether it may send one.
 */
const mayChangeCookie = (c: RestContext): boolean =>
  c.req.path.startsWith('/api/v1/auth/') ||
  (c.req.path === '/graphql' && c.req.header('authorization') === undefined);

/**
 * Cross-site request forgery: a browser sends the cookie along with whatever a foreign page posts. An unsafe request
 * that carries it, or that asks for one, must come from this site, from an allowed origin, or from no page at all
 * (design §5, "Cookies").
 */
export function originGuard(publicUrl: string, corsOrigins: readonly string[]): MiddlewareHandler<RestEnv> {
  const allowed = new Set([new URL(publicUrl).origin, ...corsOrigins]);
  return async (c, next) => {
    const origin = c.req.header('origin');
    const concernsCookie = readSessionCookie(c) !== null || mayChangeCookie(c);
    const guarded = !safeMethods.has(c.req.method) && concernsCookie;
    if (
      guarded &&
      origin !== undefined &&
      !allowed.has(origin) &&
      !isSameHost(origin, c.req.header('host'))
    ) {
      throw new ServiceError(
        'FORBIDDEN',
        `Requests with a session cookie, or for one, are not accepted from ${origin}.`,
      );
    }
    await next();
  };
}

/** The page was served by the very address that it calls. */
function isSameHost(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host;
}
