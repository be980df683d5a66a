import { QueueFullError } from '../../lib/fair-queue.ts';
import { networkOf } from '../../lib/ip.ts';
import { deviceHash as hashOf } from '../../protocol/v2/device-hash.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';
import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { leaseFits } from '../license/answer-room.ts';
import { decide, endOf } from '../license/decide.ts';
import { changeInTransaction } from '../transaction.ts';
import { type LeaseTerms, leaseEnd, leaseSecondsOf, signLease } from './claims.ts';
import { lockLeasable } from './lock-leasable.ts';
import { type RecordedLease, recordLease } from './record.ts';

/** A device whose license was just judged to be valid. */
export interface LeaseApplicant {
  readonly application: ApplicationSnapshot;
  readonly licenseId: string;
  /** The key by which it was judged. */
  readonly licenseKey: string;
  readonly hwid: string;
  /** The sequence number of the lease that the device holds. */
  readonly heldSeq?: number;
}

/**
 * `none`: the license ends within a second. `changed`: the license is no longer as it was judged; judge it again.
 * `too-many-devices`: it has leases on as many devices as a license may have. `too-long`: its entitlements, from before
 * their limit, do not fit.
 */
export type Grant = { readonly lease: string } | 'none' | 'changed' | 'too-many-devices' | 'too-long';

/** How long a lease may wait for its turn, in milliseconds. Programs renew at half of the term, so they can ask again. */
const maxWait = 2_000;
const busy = () =>
  new ServiceError('UNAVAILABLE', 'Too many leases are being issued at once. Try again shortly.');

/**
 * Issues a lease to client software, a few at a time: each one holds a connection that other tenants wait for, and a lock
 * that a ban of its license waits for. The license is locked and checked again, so that a ban either comes first and
 * prevents the lease, or comes later and revokes it.
 * @throws {ServiceError} UNAVAILABLE
 */
export async function grantLease(ctx: ServiceContext, applicant: LeaseApplicant): Promise<Grant> {
  const queuedAt = performance.now();
  try {
    return await ctx.env.leaseTurns.run(networkOf(ctx.client.ip), () => {
      if (performance.now() - queuedAt > maxWait) throw busy();
      return grantInTurn(ctx, applicant);
    });
  } catch (error) {
    throw error instanceof QueueFullError ? busy() : error;
  }
}

async function grantInTurn(ctx: ServiceContext, applicant: LeaseApplicant): Promise<Grant> {
  const { application, hwid, licenseId, licenseKey } = applicant;
  const issuedAt = new Date(ctx.env.clock.now());
  const deviceHash = hashOf(application.id, hwid);
  const issued = await changeInTransaction(ctx, async (transaction) => {
    const license = await lockLeasable(transaction, application.id, licenseId, licenseKey);
    const decision = decide({ application, client: null, license, hwid, now: issuedAt });
    if (decision.code !== 'OK' || license === null) return 'changed';
    const { activate, device } = decision.effects;
    if (activate !== null || device !== null) return 'changed';
    if (!leaseFits(license)) return 'too-long';
    const end = earlier(endOf(license), license.keyValidUntil);
    const expiresAt = leaseEnd(issuedAt, leaseSecondsOf(application, license), end);
    if (expiresAt === null) return 'none';
    const terms: LeaseTerms = { application, license, deviceHash, issuedAt, expiresAt };
    const recorded = await recordLease(transaction, {
      applicationId: application.id,
      licenseId,
      hwid,
      ...terms,
    });
    if (recorded === 'device-banned') return 'changed';
    return typeof recorded === 'string' ? recorded : { terms, recorded };
  });
  if (typeof issued === 'string') return issued;
  logGrant(ctx, applicant, issued);
  return { lease: await signLease(issued.terms, issued.recorded) };
}

/** A lease must not outlive the key that it is issued for. */
const earlier = (one: Date | null, other: Date | null): Date | null =>
  one === null || (other !== null && other < one) ? other : one;

interface Issued {
  readonly terms: LeaseTerms;
  readonly recorded: RecordedLease;
}

function logGrant(
  ctx: ServiceContext,
  { application, licenseId, hwid, heldSeq }: LeaseApplicant,
  { terms, recorded: { seq, previousSeq, isLoggedAlready } }: Issued,
): void {
  const entry = { developerId: application.developerId, applicationId: application.id, licenseId, hwid };
  const { securityLog } = ctx.env;
  if (heldSeq !== undefined && previousSeq !== null && heldSeq < previousSeq) {
    const metadata = { heldSeq, issuedSeq: previousSeq };
    securityLog.add(ctx.client, { ...entry, event: 'lease_rolled_back', metadata });
  }
  if (isLoggedAlready) return;
  const metadata = { expiresAt: terms.expiresAt.toISOString(), seq };
  securityLog.add(ctx.client, { ...entry, event: 'lease_issued', metadata });
}
