import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { lockOwnLicense } from './lock-own.ts';

/**
 * Deletes a license. End users who had it stay, without one; bans that it caused stay, without a source.
 * @throws {ServiceError} UNAUTHENTICATED, LICENSE_NOT_FOUND
 */
export async function deleteLicense({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: { id: string };
}): Promise<void> {
  const developerId = requireDeveloper(ctx.actor);
  const keyHash = await ctx.env.database.prisma.$transaction(async (transaction) => {
    const license = await lockOwnLicense(transaction, developerId, input.id);
    const deleted = await transaction.license.delete({
      where: { id: license.id },
      select: { keyHash: true, keyPrefix: true },
    });
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: license.applicationId,
      licenseId: license.id,
      event: 'license_deleted',
      metadata: { keyPrefix: deleted.keyPrefix },
    });
    return deleted.keyHash;
  });
  await ctx.env.caches.invalidateLicenses([keyHash]);
}
