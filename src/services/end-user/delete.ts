import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { applicationNotFound, userNotFound } from '../errors.ts';
import { requireOwnApplication } from '../own-application.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction, lockApplication } from '../transaction.ts';
import { disownLicenses } from './claim-license.ts';
import { lockEndUser } from './lock.ts';

/**
 * Deletes an end user and their sessions. The license and log entries are kept.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND, USER_NOT_FOUND
 */
export async function deleteEndUser({
  ctx,
  input,
}: Call<{ applicationId: string; userId: string }>): Promise<void> {
  const developerId = requireDeveloper(ctx.actor, 'users:write');
  const applicationId = await requireOwnApplication(ctx, input.applicationId, 'users:write');
  await developerTransaction(ctx, developerId, async (transaction) => {
    if (!(await lockApplication(transaction, applicationId))) throw applicationNotFound();
    const user = await lockEndUser(transaction, applicationId, input.userId);
    if (user === null) throw userNotFound();
    await disownLicenses(transaction, user.id);
    await transaction.endUser.delete({ where: { id: user.id }, select: { id: true } });
    // Without the username, which is personal data.
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId,
      licenseId: user.licenseId,
      userId: user.id,
      event: 'user_deleted',
    });
  });
}
