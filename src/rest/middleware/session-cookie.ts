import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import { serialize } from 'hono/utils/cookie';
import { cookieLifetimeSeconds } from '../../crypto/cookie-token.ts';

/** Name of the dashboard's session cookie. */
export const sessionCookieName = 'service_session';

export const readSessionCookie = (c: Context): string | null => getCookie(c, sessionCookieName) ?? null;

/** `Set-Cookie` value that logs in. `Secure` if the public URL is https. */
export function sessionCookie(token: string, publicUrl: string): string {
  return serialize(sessionCookieName, token, { ...attributes(publicUrl), maxAge: cookieLifetimeSeconds });
}

/** `Set-Cookie` value that logs out. */
export function clearedSessionCookie(publicUrl: string): string {
  return serialize(sessionCookieName, '', { ...attributes(publicUrl), maxAge: 0 });
}

const attributes = (publicUrl: string) => ({
  path: '/',
  httpOnly: true,
  sameSite: 'Lax' as const,
  secure: publicUrl.startsWith('https:'),
});
