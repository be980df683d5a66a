import type { KeyObject } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { type Clock, unixSeconds } from '../lib/clock.ts';
import type { DeveloperId } from '../lib/ids.ts';
import { sha256 } from './hash.ts';
import type { Keyring } from './keyring.ts';

/** Lifetime of the `service_session` cookie: 7 days. */
export const cookieLifetimeSeconds = 7 * 24 * 60 * 60;

/** Claims of a session cookie. */
export interface CookieClaims {
  readonly developerId: DeveloperId;
  /**
   * The developer's session version at the login. It decides whether a cookie without a session is good, and, on
   * instances of the version before sessions, whether any cookie is.
   */
  readonly sessionVersion: number;
  /** The id of the session in the database; null in a cookie of the version before sessions. */
  readonly sessionId: string | null;
}

/** Claims of a cookie with a valid signature, its expiry, and a hash that identifies it. */
export interface SignedCookieClaims extends CookieClaims {
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
  /**
   * SHA-256 of the signed part, in hex; identifies the cookie without revealing it. It excludes the signature, whose last
   * base64url character has several spellings.
   */
  readonly tokenHash: string;
}

const audience = 'latchkey/dashboard';
/** Three base64url parts. The library ignores spaces in a signature, which would allow other spellings of a token. */
const tokenPattern = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const claimsSchema = z.object({
  sub: z.uuid().transform((id) => id as DeveloperId),
  sessionVersion: z.int().nonnegative(),
  sid: z.uuid().optional(),
  exp: z.number(),
});

/** Signs a cookie token: a JWT (RFC 7519) under EdDSA. */
export function signCookieToken(keyring: Keyring, clock: Clock, claims: CookieClaims): Promise<string> {
  const issuedAt = unixSeconds(clock);
  const { sessionVersion, sessionId } = claims;
  return new SignJWT({ sessionVersion, ...(sessionId !== null && { sid: sessionId }) })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' })
    .setSubject(claims.developerId)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + cookieLifetimeSeconds)
    .sign(keyring.cookie.privateKey);
}

/**
 * Verifies a token and returns its claims; null if it is malformed, expired, or not signed by this service. Tokens signed
 * under a previous master secret are accepted only for one cookie lifetime after the secret was replaced: later ones can
 * only come from someone who stole the old secret.
 */
export async function readCookieToken(
  keyring: Keyring,
  clock: Clock,
  token: string,
): Promise<SignedCookieClaims | null> {
  if (!tokenPattern.test(token)) return null;
  const now = clock.now();
  const acceptedPrevious = keyring.previous.filter(
    ({ replacedAt }) => replacedAt === null || now < replacedAt + cookieLifetimeSeconds * 1000,
  );
  for (const { cookie } of [keyring, ...acceptedPrevious]) {
    const claims = await readSigned(cookie.publicKey, now, token);
    if (claims !== 'not signed') return claims;
  }
  return null;
}

async function readSigned(
  publicKey: KeyObject,
  now: number,
  token: string,
): Promise<SignedCookieClaims | null | 'not signed'> {
  try {
    const { payload } = await jwtVerify(token, publicKey, {
      algorithms: ['EdDSA'],
      audience,
      currentDate: new Date(now),
      requiredClaims: ['sub', 'exp'],
    });
    const claims = claimsSchema.safeParse(payload);
    if (!claims.success) return null;
    const { sub: developerId, sessionVersion, sid: sessionId = null, exp } = claims.data;
    const signed = token.slice(0, token.lastIndexOf('.'));
    const tokenHash = Buffer.from(sha256(signed)).toString('hex');
    return { developerId, sessionVersion, sessionId, expiresAt: exp * 1000, tokenHash };
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return 'not signed';
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}
