import { readCookieToken } from '../../crypto/cookie-token.ts';
import type { Call } from '../context.ts';

/**
 * Logs a session out: what it opened on any instance, such as a stream of the security log, ends, and its cookie is no
 * longer accepted. Logging out also works while the database is unavailable: the session is then deleted, and the other
 * instances learn of it, as soon as it answers. Of a cookie of the version before sessions, only the streams end; the
 * transport makes the browser forget it. A cookie that is not ours, or has expired, has nothing to end.
 * @param call with the value of the request's session cookie
 */
export async function logout({ ctx, input }: Call<{ cookie: string | null }>): Promise<void> {
  if (input.cookie === null) return;
  const { keyring, clock, changes, endedSessions } = ctx.env;
  const claims = await readCookieToken(keyring, clock, input.cookie);
  if (claims === null) return;
  const { sessionId, tokenHash } = claims;
  // First the session: a stream that ends must not be opened again with the same cookie.
  if (sessionId !== null) await endedSessions.end(sessionId);
  await changes.tellAndRecord('logout', [tokenHash]);
}
