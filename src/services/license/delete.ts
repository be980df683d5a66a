import type { Prisma } from '../../db/client.ts';
import { isId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { Call, ServiceContext } from '../context.ts';
import { ownApplications } from '../own-application.ts';
import { requireConfirmation } from '../require-confirmation.ts';
import { revokeLeases } from '../revocation/revoke-leases.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction, lockApplication } from '../transaction.ts';
import { lockOwnLicense } from './lock-own.ts';

/**
 * Deletes a license. End users who had it are kept, without a license; bans that it caused are kept, without a source. Its
 * leases are revoked.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, CONFIRMATION_REQUIRED, LICENSE_NOT_FOUND
 */
export async function deleteLicense({ ctx, input }: Call<{ id: string }>): Promise<void> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:write');
  await requireConfirmation(ctx);
  await developerTransaction(ctx, developerId, async (transaction, invalidations) => {
    await lockUsersOf(ctx, transaction, input.id);
    const license = await lockOwnLicense(ctx, transaction, invalidations, input.id);
    await revokeLeases(ctx, transaction, invalidations, license.applicationId, { licenseId: license.id });
    const deleted = await transaction.license.delete({
      where: { id: license.id },
      select: { keyPrefix: true },
    });
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: license.applicationId,
      licenseId: license.id,
      event: 'license_deleted',
      metadata: { keyPrefix: deleted.keyPrefix },
    });
  });
}

/**
 * Locks the license's users, and their application before them, because deleting the license changes their rows. A user
 * who is given the license at the same time is not locked here; if that causes a deadlock, changeInTransaction retries.
 */
async function lockUsersOf(
  { actor }: ServiceContext,
  transaction: Prisma.TransactionClient,
  licenseId: string,
): Promise<void> {
  if (!isId(licenseId)) return;
  const license = await transaction.license.findUnique({
    where: { id: licenseId, application: ownApplications(actor) },
    select: { applicationId: true },
  });
  if (license === null || !(await lockApplication(transaction, license.applicationId))) return;
  await transaction.$queryRaw`
    SELECT id FROM end_users WHERE license_id = ${licenseId}::uuid ORDER BY id FOR UPDATE`;
}
