import { readCookieToken } from '../../crypto/cookie-token.ts';
import type { Call } from '../context.ts';

/**
 * Logs a session out: what it opened on any instance, such as a stream of the security log, ends. The cookie is a signed
 * token, and no list of ended ones is kept; the transport makes the browser forget it. Logging out also works while the
 * database is unavailable: the other instances then learn of it as soon as it answers. A cookie that is not ours, or has
 * expired, has nothing to end.
 * @param call with the value of the request's session cookie
 */
export async function logout({ ctx, input }: Call<{ cookie: string | null }>): Promise<void> {
  if (input.cookie === null) return;
  const { keyring, clock, changes } = ctx.env;
  const claims = await readCookieToken(keyring, clock, input.cookie);
  if (claims !== null) await changes.tellAndRecord('logout', [claims.tokenHash]);
}
