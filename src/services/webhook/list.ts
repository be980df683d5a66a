import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import type { Page, PageInput } from '../page.ts';
import { readPage } from '../read-page.ts';
import { webhooksOfDevelopers } from './lists.ts';
import { type WebhookView, webhookView } from './view.ts';

/**
 * Returns a page of the developer's webhooks, newest first.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export async function listWebhooks({ ctx, input }: Call<Omit<PageInput, 'q'>>): Promise<Page<WebhookView>> {
  const developerId = requireDeveloper(ctx.actor, 'webhooks:read');
  return readPage(ctx, webhooksOfDevelopers, developerId, input, {}, webhookView);
}
