import type { Call } from '../context.ts';
import type { Page, PageInput } from '../page.ts';
import { readPage } from '../read-page.ts';
import type { DeliveryRow } from './delivery-view.ts';
import { type DeliveryFilter, deliveriesOfWebhooks } from './lists.ts';
import { requireOwnWebhook } from './require-own.ts';

/**
 * Returns a page of a webhook's deliveries, newest first.
 * @throws {ServiceError} UNAUTHENTICATED, WEBHOOK_NOT_FOUND
 */
export async function listDeliveries({
  ctx,
  input: { webhookId, page, filter },
}: Call<{ webhookId: string; page: Omit<PageInput, 'q'>; filter: DeliveryFilter }>): Promise<
  Page<DeliveryRow>
> {
  const { id } = await requireOwnWebhook(ctx, webhookId, 'webhooks:read');
  return readPage(ctx, deliveriesOfWebhooks, id, page, filter, (row: DeliveryRow) => row);
}
