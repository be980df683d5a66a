import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { type Clock, unixSeconds } from '../lib/clock.ts';
import type { DeveloperId } from '../lib/ids.ts';
import type { Keyring } from './keyring.ts';

/** Lifetime of the `service_session` cookie: 7 days (interface, "Other constants"). */
export const cookieLifetimeSeconds = 7 * 24 * 60 * 60;

/** What a session cookie says. */
export interface CookieClaims {
  readonly developerId: DeveloperId;
  /** Must equal the developer's: a password change ends older cookies by adding one to it. */
  readonly sessionVersion: number;
}

const audience = 'latchkey/dashboard';
const claimsSchema = z.object({
  sub: z.uuid().transform((id) => id as DeveloperId),
  sessionVersion: z.int().nonnegative(),
});

/** Signs a cookie token: a JWT (RFC 7519) under EdDSA. */
export function signCookieToken(keyring: Keyring, clock: Clock, claims: CookieClaims): Promise<string> {
  const issuedAt = unixSeconds(clock);
  return new SignJWT({ sessionVersion: claims.sessionVersion })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' })
    .setSubject(claims.developerId)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + cookieLifetimeSeconds)
    .sign(keyring.cookie.privateKey);
}

/** The claims of a token that we signed and that has not expired; null for anything else. */
export async function readCookieToken(
  keyring: Keyring,
  clock: Clock,
  token: string,
): Promise<CookieClaims | null> {
  try {
    const { payload } = await jwtVerify(token, keyring.cookie.publicKey, {
      algorithms: ['EdDSA'],
      audience,
      currentDate: new Date(clock.now()),
      requiredClaims: ['sub', 'exp'],
    });
    const claims = claimsSchema.safeParse(payload);
    return claims.success
      ? { developerId: claims.data.sub, sessionVersion: claims.data.sessionVersion }
      : null;
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}
