import { createRecoveryCode, recoveryCodeHash } from '../../crypto/recovery-code.ts';
import type { Prisma } from '../../db/client.ts';

/** How many recovery codes an account gets. */
const amount = 10;

/**
 * Replaces the recovery codes of a developer whom the transaction has locked.
 * @returns the new codes, which are shown once: the database has only their hashes
 */
export async function replaceRecoveryCodes(
  transaction: Prisma.TransactionClient,
  developerId: string,
): Promise<readonly string[]> {
  const codes = Array.from({ length: amount }, createRecoveryCode);
  await transaction.recoveryCode.deleteMany({ where: { developerId } });
  await transaction.recoveryCode.createMany({
    data: codes.map((code) => ({ developerId, codeHash: recoveryCodeHash(code) })),
  });
  return codes;
}
