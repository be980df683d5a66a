import type { Prisma } from '../../db/client.ts';

/**
 * Forgets a TOTP secret that was not confirmed. Part of every new password: whoever began with the old one knows the secret,
 * and could turn TOTP on with it.
 */
export async function forgetBegunTotp(
  transaction: Prisma.TransactionClient,
  developerId: string,
): Promise<void> {
  await transaction.developer.updateMany({
    where: { id: developerId, totpEnabledAt: null },
    data: { totpSecretEncrypted: null },
  });
}
