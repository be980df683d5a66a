import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { developerTransaction } from '../transaction.ts';
import { type DeliveryRow, deliverySelect } from './delivery-view.ts';
import { lockEnabledWebhook } from './lock-enabled.ts';
import { requireOwnWebhook } from './require-own.ts';
import { type DeliveryReference, requireOwnDelivery } from './require-own-delivery.ts';

/**
 * Attempts a delivery again now, whatever came of it before, with all attempts that a new one has. One that is being
 * attempted stays as it is.
 * @throws {ServiceError} UNAUTHENTICATED, WEBHOOK_NOT_FOUND, DELIVERY_NOT_FOUND, INVALID_TRANSITION
 */
export async function redeliver({ ctx, input }: Call<DeliveryReference>): Promise<DeliveryRow> {
  const developerId = requireDeveloper(ctx.actor, 'webhooks:write');
  const { id: webhookId } = await requireOwnWebhook(ctx, input.webhookId, 'webhooks:write');
  const delivery = await requireOwnDelivery(ctx, { ...input, webhookId });
  const redelivered = await developerTransaction(ctx, developerId, async (transaction) => {
    await lockEnabledWebhook(transaction, developerId, webhookId);
    await transaction.$executeRaw`
      UPDATE webhook_deliveries SET status = 'pending', attempts = 0, claimed_until = NULL,
        next_attempt_at = ${new Date(ctx.env.clock.now())}
      WHERE id = ${delivery.id}::uuid AND webhook_id = ${webhookId}::uuid
        AND (claimed_until < clock_timestamp()) IS NOT FALSE`;
    return transaction.webhookDelivery.findUniqueOrThrow({
      where: { id: delivery.id },
      select: deliverySelect,
    });
  });
  ctx.env.webhooks.wake(new Set([developerId]));
  return redelivered;
}
