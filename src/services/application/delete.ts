import { isRecordNotFound } from '../../db/errors.ts';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { deleteOwnedApplication } from '../delete-owned.ts';
import { applicationNotFound } from '../errors.ts';
import { toApplicationId } from '../own-application.ts';
import { requireConfirmation } from '../require-confirmation.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';

/**
 * Deletes an application and everything that belongs to it: licenses, end users, bans, log entries, and its API keys.
 * The log entry about the deletion is kept with the account.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, CONFIRMATION_REQUIRED, APP_NOT_FOUND
 */
export async function deleteApplication({ ctx, input }: Call<{ id: string }>): Promise<void> {
  const developerId = requireDeveloper(ctx.actor, 'applications:write');
  await requireConfirmation(ctx);
  const id = toApplicationId(ctx.actor, input.id);
  await developerTransaction(
    ctx,
    developerId,
    async (transaction, invalidations) => {
      invalidations.application(id);
      const { name } = await deleteOwnedApplication(ctx, transaction, developerId, id);
      // They open nothing any more.
      const keys = await transaction.apiKey.deleteMany({ where: { developerId, applicationId: id } });
      if (keys.count > 0) invalidations.credentials(developerId);
      await recordSecurityEvent(ctx, transaction, {
        developerId,
        applicationId: null,
        event: 'application_deleted',
        metadata: { applicationId: id, name },
      });
    },
    cascadeTimeLimit,
  ).catch((error: unknown) => {
    throw isRecordNotFound(error) ? applicationNotFound() : error;
  });
}

/** An application may own millions of rows, which are deleted with it. In milliseconds. */
const cascadeTimeLimit = { timeout: 120_000 };
