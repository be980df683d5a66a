import { isId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { deleteOwnedWebhook } from '../delete-owned.ts';
import { webhookNotFound } from '../errors.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';

/**
 * Deletes a webhook with its deliveries. An attempt that is in progress ends without effect.
 * @throws {ServiceError} UNAUTHENTICATED, WEBHOOK_NOT_FOUND
 */
export async function deleteWebhook({ ctx, input: { id } }: Call<{ id: string }>): Promise<void> {
  const developerId = requireDeveloper(ctx.actor, 'webhooks:write');
  if (!isId(id)) throw webhookNotFound();
  await developerTransaction(ctx, developerId, async (transaction) => {
    if (!(await deleteOwnedWebhook(ctx, transaction, developerId, id))) throw webhookNotFound();
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: null,
      event: 'webhook_deleted',
      metadata: { webhookId: id },
    });
  });
}
