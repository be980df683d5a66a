import type { Prisma } from '../../db/client.ts';
import type { ServiceContext } from '../context.ts';
import { developerTransaction } from '../developer-transaction.ts';
import type { SecurityLogInput } from '../security-log/entry.ts';
import type { SecurityEvent } from '../security-log/events.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
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
 * changed. The hot path's cached copy is invalidated before this returns.
 * @throws {ServiceError} LICENSE_NOT_FOUND, and what `decide` throws
 */
export async function changeLicense(
  ctx: ServiceContext,
  developerId: string,
  id: string,
  decide: (license: LockedLicense) => LicenseChange,
): Promise<LicenseView> {
  const { keyHash, ...row } = await developerTransaction(ctx, developerId, async (transaction) => {
    const license = await lockOwnLicense(transaction, developerId, id);
    const { data, event, metadata } = decide(license);
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: license.applicationId,
      licenseId: license.id,
      event,
      hwid: license.hwid,
      metadata,
    });
    const select = { ...licenseSelect, keyHash: true } as const;
    return transaction.license.update({ where: { id: license.id }, data, select });
  });
  await ctx.env.caches.invalidateLicenses([keyHash]);
  return licenseView(row, new Date(ctx.env.clock.now()));
}
