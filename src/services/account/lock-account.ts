import { Prisma } from '../../db/client.ts';
import { isNotDeletedOwner } from '../../db/deleted-owners.ts';
import type { ServiceContext } from '../context.ts';
import { requireCredential } from '../credential.ts';
import { accountDeleted } from '../transaction.ts';
import { wrongPassword } from './require-password.ts';

/**
 * Locks the account exclusively until the transaction ends, and checks the caller's credential again.
 * @param confirmedHash result of requirePassword, if a password was required. It must still be current: otherwise an
 *   attacker who knows the old password could undo the password change that locks them out
 * @throws {ServiceError} UNAUTHENTICATED if the account was deleted or the caller's credential ended, INVALID_CREDENTIALS if the password was changed
 */
export async function lockAccount(
  ctx: ServiceContext,
  transaction: Prisma.TransactionClient,
  developerId: string,
  confirmedHash: string | null,
): Promise<void> {
  const [account] = await transaction.$queryRaw<{ passwordHash: string }[]>`
    SELECT password_hash AS "passwordHash" FROM developers WHERE id = ${developerId}::uuid AND ${Prisma.raw(isNotDeletedOwner)}
    FOR UPDATE`;
  if (account === undefined) throw accountDeleted();
  await requireCredential(ctx, transaction, developerId);
  if (confirmedHash !== null && account.passwordHash !== confirmedHash) throw wrongPassword();
}
