import { isId } from '../../lib/ids.ts';
import type { ServiceContext } from '../context.ts';
import { deliveryNotFound } from '../errors.ts';
import { type DeliveryRow, deliverySelect } from './delivery-view.ts';

/** A delivery, by its webhook and its own id. */
export interface DeliveryReference {
  readonly webhookId: string;
  readonly deliveryId: string;
}

/**
 * Reads a delivery of a webhook. The caller has checked that the webhook is the developer's.
 * @throws {ServiceError} DELIVERY_NOT_FOUND
 */
export async function requireOwnDelivery(
  { env }: ServiceContext,
  { webhookId, deliveryId }: DeliveryReference,
): Promise<DeliveryRow> {
  const where = { id: deliveryId, webhookId };
  const row = isId(deliveryId)
    ? await env.database.prisma.webhookDelivery.findUnique({ where, select: deliverySelect })
    : null;
  if (row === null) throw deliveryNotFound();
  return row;
}
