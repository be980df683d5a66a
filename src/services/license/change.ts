import type { Prisma } from '../../db/client.ts';
import type { ServiceContext } from '../context.ts';
import { revokeLeases } from '../revocation/revoke-leases.ts';
import type { SecurityLogInput } from '../security-log/entry.ts';
import type { SecurityEvent } from '../security-log/events.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';
import { lockOwnLicense, type OwnLicense } from './lock-own.ts';
import { type LicenseView, licenseSelect, licenseView } from './view.ts';

/** A change of a locked license, and its log entry. */
export interface LicenseChange {
  readonly data: Prisma.LicenseUpdateInput;
  readonly event: SecurityEvent;
  readonly metadata: NonNullable<SecurityLogInput['metadata']>;
  /** Whether the license's leases are no longer valid. */
  readonly revokesLeases?: boolean;
}

/**
 * Changes one of the developer's licenses, in one transaction with its log entry. The license is locked, so `decide` sees
 * its current state. Cached copies are invalidated before the promise settles.
 * @throws {ServiceError} LICENSE_NOT_FOUND, and whatever `decide` throws
 */
export async function changeLicense(
  ctx: ServiceContext,
  developerId: string,
  id: string,
  decide: (license: OwnLicense) => LicenseChange,
): Promise<LicenseView> {
  const row = await developerTransaction(ctx, developerId, async (transaction, invalidations) => {
    const license = await lockOwnLicense(transaction, invalidations, developerId, id);
    const { data, event, metadata, revokesLeases = false } = decide(license);
    if (revokesLeases) {
      await revokeLeases(ctx, transaction, invalidations, license.applicationId, { licenseId: id });
    }
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: license.applicationId,
      licenseId: license.id,
      event,
      hwid: license.hwid,
      metadata,
    });
    return transaction.license.update({ where: { id: license.id }, data, select: licenseSelect });
  });
  return licenseView(row, new Date(ctx.env.clock.now()));
}
