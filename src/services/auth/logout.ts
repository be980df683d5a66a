import { readCookieToken } from '../../crypto/cookie-token.ts';
import type { ServiceContext } from '../context.ts';

/**
 * Logs a session out: whatever it has open on any instance, such as a stream of the security log, ends. That the
 * browser forgets the cookie is the transport's part. Needs no database, so that logging out works without one; a
 * cookie that is none of ours, or has expired, has nothing to end.
 */
export async function logout({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: {
    /** Value of the session cookie that came with the request. */
    cookie: string | null;
  };
}): Promise<void> {
  if (input.cookie === null) return;
  const { keyring, clock, endedSessions } = ctx.env;
  const claims = await readCookieToken(keyring, clock, input.cookie);
  if (claims !== null) await endedSessions.announce(claims.tokenHash);
}
