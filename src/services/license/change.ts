import type { Prisma } from '../../db/client.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { ServiceContext } from '../context.ts';
import { revokeLeases } from '../revocation/revoke-leases.ts';
import type { SecurityLogInput } from '../security-log/entry.ts';
import type { SecurityEvent } from '../security-log/events.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';
import type { Release } from './device-rows.ts';
import { licenseEventData } from './event-data.ts';
import type { LockedLicense } from './lock.ts';
import { lockOwnLicense } from './lock-own.ts';
import { releaseDevices } from './release-devices.ts';
import { type LicenseView, licenseSelect, licenseView } from './view.ts';

/** A change of a locked license, and its log entry. */
export interface LicenseChange {
  readonly data: Prisma.LicenseUpdateInput;
  readonly event: SecurityEvent;
  readonly metadata: NonNullable<SecurityLogInput['metadata']>;
  /** Whether the license's leases are no longer valid. */
  readonly revokesLeases?: boolean;
  /** Devices that are released. */
  readonly releases?: Omit<Release, 'licenseId' | 'now'>;
}

/** The transaction of a change, for what it changes beside the license, and its time. */
export interface Changing {
  readonly transaction: Prisma.TransactionClient;
  readonly invalidations: Invalidations;
  readonly now: Date;
}

/**
 * Changes one of the developer's licenses, in one transaction with its log entry. The license is locked, so `decide` sees
 * its current state. Cached copies are invalidated before the promise settles.
 * @param answer what is stored for a request with an Idempotency-Key; by default the license
 * @throws {ServiceError} LICENSE_NOT_FOUND, and whatever `decide` throws
 */
export async function changeLicense(
  ctx: ServiceContext,
  developerId: string,
  id: string,
  decide: (license: LockedLicense, changing: Changing) => LicenseChange | Promise<LicenseChange>,
  answer: (license: LicenseView) => unknown = (license) => license,
): Promise<LicenseView> {
  const change = async (transaction: Prisma.TransactionClient, invalidations: Invalidations) => {
    const license = await lockOwnLicense(ctx, transaction, invalidations, id);
    const now = new Date(ctx.env.clock.now());
    const changing = { transaction, invalidations, now };
    const { data, event, metadata, revokesLeases = false, releases } = await decide(license, changing);
    if (releases !== undefined) {
      await releaseDevices(ctx, transaction, invalidations, license, { ...releases, now });
    }
    if (revokesLeases) {
      await revokeLeases(ctx, transaction, invalidations, license.applicationId, { licenseId: id });
    }
    const changed = await transaction.license.update({
      where: { id: license.id },
      data,
      select: licenseSelect,
    });
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: license.applicationId,
      licenseId: license.id,
      event,
      hwid: license.hwid,
      metadata,
      eventData: {
        ...licenseEventData(changed, now),
        ...(changed.keyPrefix !== license.keyPrefix && { previousKeyPrefix: license.keyPrefix }),
      },
    });
    return licenseView(changed, now);
  };
  return developerTransaction(ctx, developerId, change, { answer });
}
