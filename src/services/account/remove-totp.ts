import type { Prisma } from '../../db/client.ts';
import type { RecordingContext } from '../context.ts';
import { recordSecurityEvent } from '../security-log/record.ts';

/**
 * Removes the secret and the recovery codes of a developer whom the transaction has locked.
 * @param byOperator whether an operator does it, for the log entry
 */
export async function removeTotp(
  ctx: RecordingContext,
  transaction: Prisma.TransactionClient,
  developerId: string,
  byOperator: boolean,
): Promise<void> {
  await transaction.developer.update({
    where: { id: developerId },
    data: {
      totpSecretEncrypted: null,
      totpEnabledAt: null,
      totpLastStep: null,
      totpAttempts: 0,
      totpAttemptsSince: null,
    },
    select: { id: true },
  });
  await transaction.recoveryCode.deleteMany({ where: { developerId } });
  await recordSecurityEvent(ctx, transaction, {
    developerId,
    applicationId: null,
    event: 'totp_disabled',
    metadata: { byOperator },
  });
}
