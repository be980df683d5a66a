import { z } from 'zod';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { deleteOwner } from '../delete-owned.ts';
import { anyPassword, strictObject } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { requireConfirmation } from '../require-confirmation.ts';
import { changeInTransaction } from '../transaction.ts';
import { lockAccount } from './lock-account.ts';
import { requirePassword } from './require-password.ts';

export const deleteAccountInput = strictObject({
  password: anyPassword,
  confirm: z.literal('DELETE', 'must be the text DELETE'),
});

/** An account may own millions of rows, which are deleted with it. In milliseconds. */
const cascadeTimeLimit = { timeout: 120_000 };

/**
 * Deletes the developer's account and all its data. Its cookies and API keys stop working.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, CONFIRMATION_REQUIRED, INVALID_CREDENTIALS
 */
export async function deleteAccount({
  ctx,
  input: given,
}: Call<{ password: string; confirm: string }>): Promise<void> {
  const developerId = requireDeveloper(ctx.actor, 'account:write');
  const input = parseInput(deleteAccountInput, given);
  await requireConfirmation(ctx);
  const confirmedHash = await requirePassword(ctx, developerId, input.password);
  await changeInTransaction(
    ctx,
    async (transaction, invalidations) => {
      // Locks the account first, so that no application is created after the list is read.
      await lockAccount(ctx, transaction, developerId, confirmedHash);
      const owned = await transaction.application.findMany({ where: { developerId }, select: { id: true } });
      for (const { id } of owned) invalidations.application(id);
      invalidations.credentials(developerId);
      await deleteOwner(
        ctx,
        transaction,
        developerId,
        owned.map(({ id }) => id),
      );
    },
    // No answer is stored, because it would be deleted with the account.
    { ...cascadeTimeLimit, requester: { developer: developerId }, answer: null },
  );
}
