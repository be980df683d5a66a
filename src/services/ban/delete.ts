import { isRecordNotFound } from '../../db/errors.ts';
import { isId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { applicationNotFound, ServiceError } from '../errors.ts';
import { requireOwnApplication } from '../own-application.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction, lockApplication } from '../transaction.ts';
import { banSelect } from './view.ts';

const banNotFound = () => new ServiceError('BAN_NOT_FOUND', 'There is no such ban.');

/**
 * Removes a ban. The license that caused it stays banned.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND, BAN_NOT_FOUND
 */
export async function deleteBan({
  ctx,
  input,
}: Call<{ applicationId: string; banId: string }>): Promise<void> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:write');
  const applicationId = await requireOwnApplication(ctx, input.applicationId, 'licenses:write');
  if (!isId(input.banId)) throw banNotFound();
  await developerTransaction(ctx, developerId, async (transaction, invalidations) => {
    if (!(await lockApplication(transaction, applicationId))) throw applicationNotFound();
    const where = { id: input.banId, applicationId };
    const ban = await transaction.ban.delete({ where, select: banSelect });
    invalidations.bans(applicationId);
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId,
      licenseId: ban.sourceLicenseId,
      event: 'ban_removed',
      metadata: { banType: ban.banType, value: ban.value },
      eventData: { banId: input.banId },
    });
  }).catch((error: unknown) => {
    throw isRecordNotFound(error) ? banNotFound() : error;
  });
}
