import { isId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { webhookNotFound } from '../errors.ts';
import { type WebhookRow, webhookSelect } from './view.ts';

/**
 * Reads one of the developer's webhooks.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, WEBHOOK_NOT_FOUND
 */
export async function requireOwnWebhook(
  ctx: ServiceContext,
  id: string,
  scope: 'webhooks:read' | 'webhooks:write',
): Promise<WebhookRow> {
  const developerId = requireDeveloper(ctx.actor, scope);
  const where = { id, developerId };
  const row = isId(id)
    ? await ctx.env.database.prisma.webhook.findUnique({ where, select: webhookSelect })
    : null;
  if (row === null) throw webhookNotFound();
  return row;
}
