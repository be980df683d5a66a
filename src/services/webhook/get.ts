import type { Call } from '../context.ts';
import { requireOwnWebhook } from './require-own.ts';
import { type WebhookView, webhookView } from './view.ts';

/**
 * Returns one of the developer's webhooks, without its secret.
 * @throws {ServiceError} UNAUTHENTICATED, WEBHOOK_NOT_FOUND
 */
export const getWebhook = async ({ ctx, input }: Call<{ id: string }>): Promise<WebhookView> =>
  webhookView(await requireOwnWebhook(ctx, input.id, 'webhooks:read'));
