import type { LeaseClaims } from '../../protocol/v2/lease.ts';
import { leaseType } from '../../protocol/v2/signed-token.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';
import { endOf } from '../license/decide.ts';
import type { LicenseSnapshot } from '../license/snapshot.ts';
import type { RecordedLease } from './record.ts';

const second = 1000;
const day = 24 * 60 * 60;

/** The term of a lease: the license's own, or else the application's. */
export const leaseSecondsOf = (
  { leaseDays }: Pick<ApplicationSnapshot, 'leaseDays'>,
  { leaseSeconds }: Pick<LicenseSnapshot, 'leaseSeconds'>,
): number => leaseSeconds ?? daysInSeconds(leaseDays);

export const daysInSeconds = (days: number): number => days * day;

/** The end of a lease: that of its term, or of its license if that is earlier; in whole seconds. Null if that is now. */
export function leaseEnd(issuedAt: Date, seconds: number, licenseEnd: Date | null): Date | null {
  const termEnd = issuedAt.getTime() + seconds * second;
  const end = wholeSeconds(Math.min(termEnd, licenseEnd?.getTime() ?? termEnd));
  return end > wholeSeconds(issuedAt.getTime()) ? new Date(end * second) : null;
}

const wholeSeconds = (milliseconds: number): number => Math.floor(milliseconds / second);

/** What a lease is about. */
export interface LeaseTerms {
  readonly application: ApplicationSnapshot;
  readonly license: LicenseSnapshot;
  readonly deviceHash: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  /** Of the device request that the lease answers. */
  readonly nonce?: string;
}

/** Signs a lease that was recorded. */
export function signLease(
  { application, license, deviceHash, issuedAt, expiresAt, nonce }: LeaseTerms,
  { jti, seq, rev }: RecordedLease,
): Promise<string> {
  const iat = wholeSeconds(issuedAt.getTime());
  const licenseEnd = endOf(license);
  const claims: LeaseClaims = {
    aud: application.id,
    sub: license.id,
    jti,
    iat,
    nbf: iat,
    exp: wholeSeconds(expiresAt.getTime()),
    lex: licenseEnd === null ? null : wholeSeconds(licenseEnd.getTime()),
    dev: deviceHash,
    tier: license.subscriptionTier,
    ent: { ...license.entitlements },
    rev,
    seq,
    ...(nonce !== undefined && { non: nonce }),
  };
  return application.signer.signToken(leaseType, claims);
}
