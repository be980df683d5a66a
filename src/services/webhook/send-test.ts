import { newId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { Call, ServiceContext } from '../context.ts';
import { webhookNotFound } from '../errors.ts';
import { once } from '../idempotency.ts';
import { developerTransaction } from '../transaction.ts';
import { claimEnd, testEventType } from './claim.ts';
import type { DeliveryRow } from './delivery-view.ts';
import { requireOwnWebhook } from './require-own.ts';
import { requireOwnDelivery } from './require-own-delivery.ts';

/**
 * Sends an event of the type `webhook.test` to this webhook only, at once and once, also if it is disabled.
 * @returns the delivery with its result
 * @throws {ServiceError} UNAUTHENTICATED, WEBHOOK_NOT_FOUND, TOO_MANY_DELIVERIES
 */
export async function testWebhook({ ctx, input: { id } }: Call<{ id: string }>): Promise<DeliveryRow> {
  const developerId = requireDeveloper(ctx.actor, 'webhooks:write');
  const { id: webhookId } = await requireOwnWebhook(ctx, id, 'webhooks:write');
  const deliveryId = await once(ctx, async () => {
    const deliveryId = newId();
    await ctx.env.webhooks.attemptNow(developerId, () =>
      insertClaimed(ctx, developerId, { webhookId, deliveryId }),
    );
    return deliveryId;
  });
  return requireOwnDelivery(ctx, { webhookId, deliveryId });
}

/** Inserts a delivery that no instance claims meanwhile. @returns its id */
async function insertClaimed(
  ctx: ServiceContext,
  developerId: string,
  { webhookId, deliveryId }: { readonly webhookId: string; readonly deliveryId: string },
): Promise<string> {
  const now = new Date(ctx.env.clock.now());
  return developerTransaction(ctx, developerId, async (transaction) => {
    const inserted = await transaction.$executeRawUnsafe(
      `INSERT INTO webhook_deliveries
         (id, webhook_id, event_id, event_type, sequence, attempts, next_attempt_at, last_attempt_at, created_at, claimed_until)
       SELECT $1::uuid, id, $2::uuid, $3, 0, 1, $4::timestamptz, $4::timestamptz, $4::timestamptz, ${claimEnd}
       FROM webhooks WHERE id = $5::uuid AND developer_id = $6::uuid`,
      deliveryId,
      newId(),
      testEventType,
      now,
      webhookId,
      developerId,
    );
    if (inserted === 0) throw webhookNotFound();
    return deliveryId;
  });
}
