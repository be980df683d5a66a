import type { Prisma } from '../../db/client.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { startAccountSession } from '../account-session/start.ts';
import { type DeveloperView, developerSelect } from '../auth/developer-view.ts';
import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { changeInTransaction } from '../transaction.ts';
import { forgetBegunTotp } from './forget-begun-totp.ts';
import { lockAccount } from './lock-account.ts';

/** The changed account, with what a new cookie needs. */
export type ChangedAccount = DeveloperView & {
  readonly sessionVersion: number;
  /** Null if no session was started. */
  readonly sessionId: string | null;
};

/** A change of an account. */
export interface AccountChange {
  readonly data: Prisma.DeveloperUpdateInput;
  /** Names of the changed fields, for the log entry. */
  readonly fields: readonly string[];
  /** From requirePassword; null if the change needs no password. */
  readonly confirmedHash: string | null;
  /** Whether the caller gets a new session, because the change ends theirs. */
  readonly startsSession?: boolean;
}

/**
 * Changes the developer's row, in one transaction with its log entry. The entry contains only the names of the fields.
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
    // Takes the exclusive lock at once: the email address is a key, so two transactions that each upgraded a shared lock
    // would deadlock.
    await lockAccount(ctx, transaction, developerId, change.confirmedHash);
    const select = { ...developerSelect, sessionVersion: true } as const;
    const account = await transaction.developer.update({
      where: { id: developerId },
      data: change.data,
      select,
    });
    if (change.data.passwordHash !== undefined) await forgetBegunTotp(transaction, developerId);
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: null,
      event: 'account_changed',
      metadata: { changed: change.fields },
    });
    const { sessionVersion } = account;
    const sessionId = change.startsSession
      ? await startAccountSession(ctx, transaction, invalidations, { developerId, sessionVersion })
      : null;
    return { ...account, sessionId };
  };
  return changeInTransaction(ctx, apply, { requester: { developer: developerId } }).catch(
    (error: unknown) => {
      if (!isUniqueViolation(error, 'email_normalized')) throw error;
      throw new ServiceError('EMAIL_TAKEN', 'An account with this email address already exists.');
    },
  );
}
