import * as z from 'zod';
import { canonicalUuid } from '../messages.ts';
import { textOf } from '../text.ts';
import { base64UrlOf } from './base64url-bytes.ts';
import { leaseHeader, readToken, type TokenStep } from './signed-token.ts';

// A lease lets a device go on without the network for a while. It is a token that the service signs with the
// application's key.

/** No lease is valid for longer, in seconds: 30 days. */
export const maxLeaseSeconds = 30 * 24 * 60 * 60;
/** No lease is longer, in characters. */
export const maxLeaseLength = 32_768;

export const deviceHashBytes = 32;
export const deviceNonceBytes = 16;

const seconds = z.int().min(0);
const counter = z.int().min(0);

/** What a lease says. Times are in seconds since the Unix epoch. Unknown claims are ignored, so that later services can add some. */
export const leaseClaims = z
  .object({
    /** The application. */
    aud: canonicalUuid,
    /** The license. */
    sub: canonicalUuid,
    /** The id of this lease. */
    jti: canonicalUuid,
    iat: seconds,
    nbf: seconds,
    /** The end of the lease. */
    exp: seconds,
    /** The end of the license itself; null if it has none. */
    lex: seconds.nullable(),
    /** The device: see `deviceHash`. */
    dev: base64UrlOf(deviceHashBytes),
    /** The license's tier. */
    tier: z.int().min(0),
    /** The license's entitlements, by their codes. */
    ent: z.record(textOf({ min: 1, max: 64 }), z.union([z.boolean(), z.int(), textOf({ min: 0, max: 200 })])),
    /** The application's revocation counter when the lease was issued: see `revokes`. */
    rev: counter,
    /** Rises with every lease for this license and device. */
    seq: counter,
    /** Only in an answer to a device request: its nonce. */
    non: base64UrlOf(deviceNonceBytes).optional(),
  })
  .refine(({ iat, exp }) => iat < exp && exp - iat <= maxLeaseSeconds, 'A lease runs for at most 30 days');
export type LeaseClaims = z.infer<typeof leaseClaims>;

/** What a reader of a lease knows. */
export interface LeaseExpectations {
  readonly appId: string;
  /** The application's Ed25519 key, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** The reader's own device: see `deviceHash`. */
  readonly device: string;
  /** In seconds since the Unix epoch, by a clock that the caller trusts. */
  readonly time: number;
  /** The highest `seq` and `rev` of all leases for this license and device that the reader accepted before. */
  readonly seen?: Pick<LeaseClaims, 'seq' | 'rev'>;
  /** The nonce of the device request that this lease answers; without it, `non` is not compared. */
  readonly nonce?: string;
}

/** The checks of a lease, in order. */
export type LeaseStep =
  | 'length'
  | TokenStep
  | 'claims'
  | 'aud'
  | 'dev'
  | 'non'
  | 'nbf'
  | 'exp'
  | 'seq'
  | 'rev';

export type LeaseResult =
  | { readonly ok: true; readonly claims: LeaseClaims }
  | { readonly ok: false; readonly failed: LeaseStep };

const failed = (step: LeaseStep): LeaseResult => ({ ok: false, failed: step });

/**
 * Reads a lease, and checks everything about it but revocation, for which see `revokes`.
 * @returns its claims, or the first check that failed
 */
export function readLease(lease: string, expected: LeaseExpectations): LeaseResult {
  if (lease.length > maxLeaseLength) return failed('length');
  const token = readToken(lease, leaseHeader, expected.publicKey);
  if (!token.ok) return token;
  const parsed = leaseClaims.safeParse(token.payload);
  if (!parsed.success) return failed('claims');
  const claims = parsed.data;
  const step = failedClaim(claims, expected);
  return step === null ? { ok: true, claims } : failed(step);
}

function failedClaim(claims: LeaseClaims, expected: LeaseExpectations): LeaseStep | null {
  const { appId, device, nonce, time, seen } = expected;
  if (claims.aud !== appId) return 'aud';
  if (claims.dev !== device) return 'dev';
  if (nonce !== undefined && claims.non !== nonce) return 'non';
  // Negated, so that a time that is not a number fails.
  if (!(time >= claims.nbf)) return 'nbf';
  if (!(time < claims.exp)) return 'exp';
  if (seen !== undefined && claims.seq < seen.seq) return 'seq';
  if (seen !== undefined && claims.rev < seen.rev) return 'rev';
  return null;
}
