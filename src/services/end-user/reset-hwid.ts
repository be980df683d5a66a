import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { applicationNotFound, ServiceError, userNotFound } from '../errors.ts';
import { activeDevices } from '../license/license-devices.ts';
import { lockLicense } from '../license/lock.ts';
import { releaseDevices } from '../license/release-devices.ts';
import { refuseBanned } from '../license/reset-hwid.ts';
import { requireOwnApplication } from '../own-application.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction, lockApplication } from '../transaction.ts';
import { lockEndUser } from './lock.ts';

/**
 * Clears an end user's device and the device binding of the linked license. The license's status and expiry are unchanged.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND, USER_NOT_FOUND, LICENSE_BANNED, HWID_NOT_SET
 */
export async function resetEndUserHwid({
  ctx,
  input,
}: Call<{ applicationId: string; userId: string }>): Promise<void> {
  const developerId = requireDeveloper(ctx.actor, 'users:write');
  const applicationId = await requireOwnApplication(ctx, input.applicationId, 'users:write');
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
      const ids = activeDevices(license).map(({ id }) => id);
      const now = new Date(ctx.env.clock.now());
      const release = { ids, by: 'vendor', mayReturn: true, now } as const;
      await releaseDevices(ctx, transaction, invalidations, license, release);
    }
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId,
      licenseId: user.licenseId,
      userId: user.id,
      event: 'hwid_reset',
      hwid: previousHwid,
      metadata: { previousHwid },
      ...(license !== null && { eventData: { keyPrefix: license.keyPrefix } }),
    });
  });
}
