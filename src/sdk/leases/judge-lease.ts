import { type LeaseClaims, leaseClaims, readLease } from '../../protocol/v2/lease.ts';
import { type RevocationsClaims, revokes } from '../../protocol/v2/revocations.ts';
import { leaseHeader, readToken } from '../../protocol/v2/signed-token.ts';
import type { LeaseProblem } from './lease-problem.ts';
import type { LeaseEntry } from './lease-record.ts';

/** How far a clock may be corrected backwards, in seconds. */
const clockToleranceSeconds = 3600;

interface LeaseReader {
  readonly appId: string;
  readonly publicKey: Uint8Array;
  /** See `deviceHash`. */
  readonly device: string;
  /** This device's clock, in Unix seconds. */
  readonly time: number;
  /** The latest time that is known to have been reached. */
  readonly last: number;
}

export interface LeaseFacts extends LeaseReader {
  /** The newest revocation list; null if there never was one. */
  readonly revocations: RevocationsClaims | 'missing' | null;
}

/** Judges a stored lease. @returns its claims, or why it does not stand in for an answer */
export function judgeLease(entry: LeaseEntry | null, facts: LeaseFacts): LeaseClaims | LeaseProblem {
  const { last, time, revocations } = facts;
  if (entry === null || entry.lease === null) return 'none';
  // Negated, so that a clock that returns no number is refused.
  if (!(time >= last - clockToleranceSeconds)) return 'clock-set-back';
  // The later of the two counts: otherwise the tolerance would stretch a lease by an hour.
  const read = readLease(entry.lease, { ...facts, time: Math.max(time, last), seen: entry });
  if (!read.ok) return problems[read.failed] ?? 'invalid';
  const { claims } = read;
  if (entry.used > claims.exp - claims.iat) return 'used-up';
  if (revocations === 'missing') return 'revocations-missing';
  if (revocations !== null && revokes(revocations, claims)) return 'revoked';
  return claims;
}

const problems: Readonly<Record<string, LeaseProblem>> = {
  exp: 'expired',
  seq: 'superseded',
  rev: 'superseded',
};

export interface NewLeaseReader extends LeaseReader {
  /** What is known of earlier leases for the license and device. */
  readonly held: LeaseEntry | null;
}

/** Reads a lease that is to be stored. @returns its claims, or why it is not */
export function readNewLease(lease: string, { held, ...reader }: NewLeaseReader): LeaseClaims | LeaseProblem {
  const token = readToken(lease, leaseHeader, reader.publicKey);
  const claims = leaseClaims.safeParse(token.ok ? token.payload : undefined);
  if (!claims.success) return 'invalid';
  // The service has reached the time at which it issued the lease; this device's clock may be behind.
  const time = Math.max(reader.last, claims.data.iat, reader.time > 0 ? reader.time : 0);
  const read = readLease(lease, { ...reader, time, ...(held !== null && { seen: held }) });
  return read.ok ? read.claims : (problems[read.failed] ?? 'invalid');
}
