import type { MiddlewareHandler } from 'hono';
import { ServiceError } from '../../services/errors.ts';
import type { RestEnv } from '../adapter.ts';
import { readSessionCookie } from './session-cookie.ts';

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Where cookies are given and taken: a foreign page could log its visitor in to an account of its own, or out. */
const authPath = '/api/v1/auth/';

/**
 * Cross-site request forgery: a browser sends the cookie along with whatever a foreign page posts. An unsafe request
 * that carries it, or that asks for one, must come from this site, from an allowed origin, or from no page at all
 * (design §5, "Cookies").
 */
export function originGuard(publicUrl: string, corsOrigins: readonly string[]): MiddlewareHandler<RestEnv> {
  const allowed = new Set([new URL(publicUrl).origin, ...corsOrigins]);
  return async (c, next) => {
    const origin = c.req.header('origin');
    const concernsCookie = readSessionCookie(c) !== null || c.req.path.startsWith(authPath);
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
