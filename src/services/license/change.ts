import type { Prisma } from '../../db/client.ts';
import type { ServiceContext } from '../context.ts';
import type { SecurityLogInput } from '../security-log/entry.ts';
import type { SecurityEvent } from '../security-log/events.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';
import { type LockedLicense, lockOwnLicense } from './lock-own.ts';
import { type LicenseView, licenseSelect, licenseView } from './view.ts';

/** What to change of a license that is locked, and how the log tells it. */
export interface LicenseChange {
  readonly data: Prisma.LicenseUpdateInput;
  readonly event: SecurityEvent;
  readonly metadata: NonNullable<SecurityLogInput['metadata']>;
}

/**
 * Changes one license of the developer's, in one transaction with its log entry: what `decide` has seen is what is
 * changed. The hot path's cached copy is invalidated before this settles.
 * @throws {ServiceError} LICENSE_NOT_FOUND, and what `decide` throws
 */
export async function changeLicense(
  ctx: ServiceContext,
  developerId: string,
  id: string,
  decide: (license: LockedLicense) => LicenseChange,
): Promise<LicenseView> {
  const row = await developerTransaction(ctx, developerId, async (transaction, invalidations) => {
    const license = await lockOwnLicense(transaction, invalidations, developerId, id);
    const { data, event, metadata } = decide(license);
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
