import { Prisma } from '../../db/client.ts';
import { isNotDeletedOwner } from '../../db/deleted-owners.ts';
import { accountDeleted } from '../transaction.ts';
import { wrongPassword } from './require-password.ts';

/**
 * Holds the account alone until the transaction ends.
 * @param confirmedHash what requirePassword answered, where a password was asked for: one that has been changed since
 *   opens nothing any more, or a thief who knows the old one could undo the change that shuts him out
 * @throws {ServiceError} UNAUTHENTICATED when the account is gone, INVALID_CREDENTIALS
 */
export async function holdAccount(
  transaction: Prisma.TransactionClient,
  developerId: string,
  confirmedHash: string | null,
): Promise<void> {
  const [account] = await transaction.$queryRaw<{ passwordHash: string }[]>`
    SELECT password_hash AS "passwordHash" FROM developers WHERE id = ${developerId}::uuid AND ${Prisma.raw(isNotDeletedOwner)}
    FOR UPDATE`;
  if (account === undefined) throw accountDeleted();
  if (confirmedHash !== null && account.passwordHash !== confirmedHash) throw wrongPassword();
}
