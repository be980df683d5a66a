import * as z from 'zod';
import { encodeBase64Url } from '../base64.ts';
import { canonicalUuid } from '../messages.ts';
import { base64UrlOf } from './base64url-bytes.ts';
import type { LeaseClaims } from './lease.ts';
import { readToken, revocationsHeader, type TokenStep } from './signed-token.ts';
import { uuidBytes } from './uuid-bytes.ts';

/** Bytes of a license's id in a list. */
const shortIdBytes = 8;
const seconds = z.int().min(0);
const counter = z.int().min(0);

/** What a revocation list says. Unknown claims are ignored. */
export const revocationsClaims = z.object({
  /** The application. */
  aud: canonicalUuid,
  iat: seconds,
  /** From then on, a newer list is needed to know about revocations. */
  exp: seconds,
  /** The application's revocation counter. */
  rev: counter,
  /**
   * Of each license with revoked leases that still run: its short id, and the counter's value when they were revoked. A
   * license can be used again after that, for example on another device, so its later leases are not revoked.
   */
  revoked: z.record(base64UrlOf(shortIdBytes), counter),
});
export type RevocationsClaims = z.infer<typeof revocationsClaims>;

/** The checks of a revocation list, in order. */
export type RevocationsStep = TokenStep | 'claims' | 'aud' | 'exp' | 'rev';

export type RevocationsResult =
  | { readonly ok: true; readonly claims: RevocationsClaims }
  | { readonly ok: false; readonly failed: RevocationsStep };

/** What a reader of a revocation list knows. */
export interface RevocationsExpectations {
  readonly appId: string;
  /** The application's Ed25519 key, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** In seconds since the Unix epoch. */
  readonly time: number;
  /** The highest `rev` of all lists of this application that the reader accepted: an older list lacks entries. */
  readonly seenRev?: number;
}

/** Reads a revocation list. @returns its claims, or the first check that failed */
export function readRevocations(list: string, expected: RevocationsExpectations): RevocationsResult {
  const failed = (step: RevocationsStep): RevocationsResult => ({ ok: false, failed: step });
  const token = readToken(list, revocationsHeader, expected.publicKey);
  if (!token.ok) return token;
  const parsed = revocationsClaims.safeParse(token.payload);
  if (!parsed.success) return failed('claims');
  const claims = parsed.data;
  if (claims.aud !== expected.appId) return failed('aud');
  if (!(expected.time < claims.exp)) return failed('exp');
  if (expected.seenRev !== undefined && claims.rev < expected.seenRev) return failed('rev');
  return { ok: true, claims };
}

/**
 * A license's id in a revocation list: the last 8 bytes, in base64url. The first 8 bytes of a UUIDv7 are mostly its time,
 * so licenses that were made together would share them; the last 8 are mostly random.
 * @throws {RangeError} unless the id is a UUID in lower case
 */
export const shortLicenseId = (licenseId: string): string =>
  encodeBase64Url(uuidBytes(licenseId).subarray(-shortIdBytes));

/** Whether a list revokes a lease: its license was revoked after the lease was issued. */
export function revokes(
  { revoked }: Pick<RevocationsClaims, 'revoked'>,
  { sub, rev }: Pick<LeaseClaims, 'sub' | 'rev'>,
): boolean {
  const id = shortLicenseId(sub);
  return Object.hasOwn(revoked, id) && rev < (revoked[id] ?? 0);
}
