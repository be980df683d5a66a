import { readCookieToken } from '../../crypto/cookie-token.ts';
import type { ServiceContext } from '../context.ts';

/**
 * Logs a session out: its open streams end on all instances. The transport clears the browser's cookie. Needs no database,
 * so that logout works while it is unavailable. Has no effect for an invalid or expired cookie.
 */
export async function logout({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: {
    /** Value of the request's session cookie. */
    cookie: string | null;
  };
}): Promise<void> {
  if (input.cookie === null) return;
  const { keyring, clock, endedSessions } = ctx.env;
  const claims = await readCookieToken(keyring, clock, input.cookie);
  if (claims !== null) await endedSessions.announce(claims.tokenHash);
}
