import type { KeyObject } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { type Clock, unixSeconds } from '../lib/clock.ts';
import type { DeveloperId } from '../lib/ids.ts';
import { sha256 } from './hash.ts';
import type { Keyring } from './keyring.ts';

/** Lifetime of the `service_session` cookie: 7 days (interface, "Other constants"). */
export const cookieLifetimeSeconds = 7 * 24 * 60 * 60;

/** What a session cookie says. */
export interface CookieClaims {
  readonly developerId: DeveloperId;
  /** Must equal the developer's: a password change ends older cookies by adding one to it. */
  readonly sessionVersion: number;
}

/** What a cookie that we signed says, and what tells when it has ended. */
export interface SignedCookieClaims extends CookieClaims {
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
  /**
   * SHA-256 of what is signed, in hex: the cookie's name where the cookie itself must not stand. Not of the signature,
   * whose last character can be written in several ways.
   */
  readonly tokenHash: string;
}

const audience = 'latchkey/dashboard';
/** Three parts in base64url: the library passes over spaces in a signature, which would be more spellings of a token. */
const tokenPattern = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const claimsSchema = z.object({
  sub: z.uuid().transform((id) => id as DeveloperId),
  sessionVersion: z.int().nonnegative(),
  exp: z.number(),
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

/**
 * The claims of a token that we signed and that has not expired; null for anything else. One that was signed under a
 * master secret that has been replaced since is good for as long as any can be: after that only whoever has got hold
 * of the old secret could bring one.
 */
export async function readCookieToken(
  keyring: Keyring,
  clock: Clock,
  token: string,
): Promise<SignedCookieClaims | null> {
  if (!tokenPattern.test(token)) return null;
  const now = clock.now();
  const honoured = keyring.previous.filter(
    ({ replacedAt }) => replacedAt === null || now < replacedAt + cookieLifetimeSeconds * 1000,
  );
  for (const { cookie } of [keyring, ...honoured]) {
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
    const { sub: developerId, sessionVersion, exp } = claims.data;
    const signed = token.slice(0, token.lastIndexOf('.'));
    const tokenHash = Buffer.from(sha256(signed)).toString('hex');
    return { developerId, sessionVersion, expiresAt: exp * 1000, tokenHash };
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return 'not signed';
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}
