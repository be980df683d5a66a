import type { Prisma } from '../../db/client.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { type DeveloperView, developerSelect } from '../auth/developer-view.ts';
import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { changeInTransaction } from '../transaction.ts';
import { holdAccount } from './hold-account.ts';

/** The account as it is after a change, with what a new cookie has to say. */
export type ChangedAccount = DeveloperView & { readonly sessionVersion: number };

/** What to change, and whether its asker had to know the password. */
export interface AccountChange {
  readonly data: Prisma.DeveloperUpdateInput;
  /** Named in the log entry. */
  readonly fields: readonly string[];
  /** Of requirePassword; null where no password is asked for. */
  readonly confirmedHash: string | null;
}

/**
 * Changes the developer's own row, in one transaction with its log entry, which names the fields alone.
 * @throws {ServiceError} EMAIL_TAKEN, UNAUTHENTICATED, INVALID_CREDENTIALS
 */
export async function changeAccount(
  ctx: ServiceContext,
  developerId: string,
  change: AccountChange,
): Promise<ChangedAccount> {
  const apply: Parameters<typeof changeInTransaction<ChangedAccount>>[1] = async (
    transaction,
    invalidations,
  ) => {
    invalidations.credentials(developerId);
    // The whole lock at once: an address is a key of the row, and two that shared it would each wait to have it alone.
    await holdAccount(transaction, developerId, change.confirmedHash);
    const select = { ...developerSelect, sessionVersion: true } as const;
    const account = await transaction.developer.update({
      where: { id: developerId },
      data: change.data,
      select,
    });
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: null,
      event: 'account_changed',
      metadata: { changed: change.fields },
    });
    return account;
  };
  return changeInTransaction(ctx, apply, { taker: { developer: developerId } }).catch((error: unknown) => {
    if (!isUniqueViolation(error, 'email_normalized')) throw error;
    throw new ServiceError('EMAIL_TAKEN', 'An account with this email address exists already.');
  });
}
