import type { Prisma } from '../../db/client.ts';
import type { DeviceRequest } from '../../protocol/v2/device-request.ts';
import { messageFor } from '../application/message-for.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { RecordingContext } from '../context.ts';
import { licenseNotFound, ServiceError } from '../errors.ts';
import { leaseFits } from '../license/answer-room.ts';
import { applyToLocked } from '../license/apply-to-locked.ts';
import { decide, endOf, type RefusalCode } from '../license/decide.ts';
import { activeDevices, sameAs } from '../license/license-devices.ts';
import { type LockedLicense, lockLicense } from '../license/lock.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { daysInSeconds, type LeaseTerms, leaseEnd, leaseSecondsOf } from './claims.ts';
import { maxDevices, type RecordedLease, recordLease } from './record.ts';

/** A device request and the license that answers it. */
export interface OfflineIssue {
  readonly application: ApplicationSnapshot;
  readonly licenseId: string;
  readonly request: DeviceRequest;
  /** The term in days; by default that of the license, or else of the application. */
  readonly days?: number | undefined;
}

export interface OfflineLease {
  readonly terms: LeaseTerms;
  readonly recorded: RecordedLease;
}

/**
 * Records the lease that answers a device request, with its log entry. The rules are those of a validation: an unused
 * license becomes active, and one that is not bound is bound to the device, by its hash. The caller has locked the
 * application.
 * @throws {ServiceError} LICENSE_NOT_FOUND, APP_MISMATCH, BANNED, SUSPENDED, EXPIRED, DEVICE_RELEASED, HWID_MISMATCH,
 *   DEVICE_LIMIT, HWID_BANNED, LIMIT_REACHED
 */
export async function recordOfflineLease(
  ctx: RecordingContext,
  transaction: Prisma.TransactionClient,
  invalidations: Invalidations,
  { application, licenseId, request, days }: OfflineIssue,
): Promise<OfflineLease> {
  const refuse = (code: RefusalCode) => refusal(application, code);
  if (request.appId !== application.id) {
    throw new ServiceError('APP_MISMATCH', 'This device request is for another application.');
  }
  const issuedAt = new Date(ctx.env.clock.now());
  const { device: deviceHash, nonce } = request;
  const license = await useOn(ctx, transaction, invalidations, {
    application,
    licenseId,
    deviceHash,
    now: issuedAt,
  });
  if (!leaseFits(license)) throw tooLong();
  const term = days === undefined ? leaseSecondsOf(application, license) : daysInSeconds(days);
  const expiresAt = leaseEnd(issuedAt, term, endOf(license));
  if (expiresAt === null) throw refuse('EXPIRED');
  const terms: LeaseTerms = { application, license, deviceHash, issuedAt, expiresAt, nonce };
  // Without a lock on devices, the license may be bound to another device than the one that asks.
  const own = activeDevices(license).find(sameAs(application.id, { deviceHash }));
  const hwid = own?.hwid ?? null;
  const lease = { applicationId: application.id, licenseId, deviceHash, hwid, issuedAt, expiresAt };
  const recorded = await recordLease(transaction, lease);
  if (recorded === 'device-banned') throw refuse('HWID_BANNED');
  if (recorded === 'too-many-devices') throw tooManyDevices();
  await recordSecurityEvent(ctx, transaction, {
    developerId: application.developerId,
    applicationId: application.id,
    licenseId,
    event: 'lease_issued',
    hwid,
    metadata: { expiresAt: expiresAt.toISOString(), seq: recorded.seq, deviceHash },
  });
  return { terms, recorded };
}

const tooManyDevices = () =>
  new ServiceError(
    'LIMIT_REACHED',
    `This license has leases on ${maxDevices} devices. Wait until some of them have ended.`,
  );

const tooLong = () =>
  new ServiceError(
    'LIMIT_REACHED',
    'The entitlements of this license are too long for a lease. Shorten them.',
  );

interface Use {
  readonly application: ApplicationSnapshot;
  readonly licenseId: string;
  readonly deviceHash: string;
  readonly now: Date;
}

/** Judges the license, activates it, and binds it to the device. */
async function useOn(
  ctx: RecordingContext,
  transaction: Prisma.TransactionClient,
  invalidations: Invalidations,
  { application, licenseId, deviceHash, now }: Use,
): Promise<LockedLicense> {
  const license = await lockLicense(transaction, { licenseId });
  if (license === null) throw licenseNotFound();
  const decision = decide({ application, client: null, license, hwid: null, deviceHash, now });
  if (decision.code !== 'OK') throw refusal(application, decision.code);
  const { developerId } = application;
  const use = { developerId, effects: decision.effects, device: { deviceHash }, now };
  return applyToLocked(ctx, transaction, invalidations, license, use);
}

function refusal(application: ApplicationSnapshot, code: RefusalCode): ServiceError {
  switch (code) {
    case 'LICENSE_NOT_FOUND':
    case 'APP_MISMATCH':
    case 'BANNED':
    case 'SUSPENDED':
    case 'EXPIRED':
    case 'HWID_BANNED':
    case 'DEVICE_RELEASED':
    case 'HWID_MISMATCH':
    case 'DEVICE_LIMIT':
      return new ServiceError(code, messageFor(application, code));
    default:
      return new ServiceError('INTERNAL', `Unexpected verdict ${code} for a device request.`);
  }
}
