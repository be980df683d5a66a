import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { applicationNotFound, ServiceError, userNotFound } from '../errors.ts';
import { lockLicense } from '../license/lock.ts';
import { refuseBanned } from '../license/reset-hwid.ts';
import { requireOwnApplication } from '../own-application.ts';
import { revokeLeases } from '../revocation/revoke-leases.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction, lockApplication } from '../transaction.ts';
import { lockEndUser } from './lock.ts';

/**
 * Clears an end user's device and the device binding of the linked license. The license's status and expiry are unchanged.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND, USER_NOT_FOUND, LICENSE_BANNED, HWID_NOT_SET
 */
export async function resetEndUserHwid({
  ctx,
  input,
}: Call<{ applicationId: string; userId: string }>): Promise<void> {
  const developerId = requireDeveloper(ctx.actor);
  const applicationId = await requireOwnApplication(ctx, input.applicationId);
  await developerTransaction(ctx, developerId, async (transaction, invalidations) => {
    if (!(await lockApplication(transaction, applicationId))) throw applicationNotFound();
    const user = await lockEndUser(transaction, applicationId, input.userId);
    if (user === null) throw userNotFound();
    const license =
      user.licenseId === null ? null : await lockLicense(transaction, { licenseId: user.licenseId });
    if (license !== null) refuseBanned(license);
    const previousHwid = license?.hwid ?? license?.deviceHash ?? user.lastHwid;
    if (previousHwid === null) {
      throw new ServiceError('HWID_NOT_SET', 'Neither this user nor the linked license has a device.');
    }
    await transaction.endUser.update({
      where: { id: user.id },
      data: { lastHwid: null },
      select: { id: true },
    });
    if (license !== null) {
      invalidations.license(license.keyHash);
      await revokeLeases(ctx, transaction, invalidations, applicationId, { licenseId: license.id });
      await transaction.license.update({
        where: { id: license.id },
        data: { hwid: null, deviceHash: null },
        select: { id: true },
      });
    }
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId,
      licenseId: user.licenseId,
      userId: user.id,
      event: 'hwid_reset',
      hwid: previousHwid,
      metadata: { previousHwid },
    });
  });
}
