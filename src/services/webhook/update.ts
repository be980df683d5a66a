import { z } from 'zod';
import { isId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { webhookNotFound } from '../errors.ts';
import { strictObject } from '../fields.ts';
import { requireOwnApplication } from '../own-application.ts';
import { parseInput } from '../parse-input.ts';
import { requireConfirmation } from '../require-confirmation.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';
import { members } from './fields.ts';
import { requireUrl } from './url.ts';
import { type WebhookRow, type WebhookView, webhookSelect, webhookView } from './view.ts';

/** A change of a webhook. Members that are left out stay as they are; at least one is required. */
export const updateWebhookInput = strictObject({ ...members, enabled: z.boolean() }).partial();

const changeInput = updateWebhookInput.refine(
  (change) => Object.values(change).some((value) => value !== undefined),
  'must have at least one member of a webhook',
);

/**
 * Changes the members of a webhook that were sent. While it is disabled, nothing is sent; when it is enabled again, it gets
 * what has happened in between, as far as events are still kept.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, CONFIRMATION_REQUIRED, VALIDATION_FAILED, APP_NOT_FOUND, WEBHOOK_NOT_FOUND
 */
export async function updateWebhook({
  ctx,
  input: { id, change: given },
}: Call<{ id: string; change: z.input<typeof updateWebhookInput> }>): Promise<WebhookView> {
  const developerId = requireDeveloper(ctx.actor, 'webhooks:write', 'events:read');
  const change = parseInput(changeInput, given);
  if (!isId(id)) throw webhookNotFound();
  if (change.url !== undefined) requireUrl(change.url, ctx.env.settings.webhookAllow);
  if (typeof change.applicationId === 'string')
    await requireOwnApplication(ctx, change.applicationId, 'webhooks:write');
  await requireConfirmation(ctx);
  const { enabled, ...columns } = change;
  const row = await developerTransaction(ctx, developerId, async (transaction) => {
    await transaction.$queryRaw`
      SELECT FROM webhooks WHERE id = ${id}::uuid AND developer_id = ${developerId}::uuid FOR UPDATE`;
    const before = await transaction.webhook.findUnique({
      where: { id, developerId },
      select: webhookSelect,
    });
    if (before === null) throw webhookNotFound();
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: null,
      event: 'webhook_changed',
      metadata: { webhookId: id, changed: Object.keys(change) },
    });
    return transaction.webhook.update({
      where: { id },
      data: { ...columns, ...stateBy(enabled, before, new Date(ctx.env.clock.now())) },
      select: webhookSelect,
    });
  });
  return webhookView(row);
}

/** The columns of the new state. A webhook that is disabled already keeps its time and reason. */
function stateBy(enabled: boolean | undefined, { disabledAt }: WebhookRow, now: Date) {
  if (enabled === undefined || enabled === (disabledAt === null)) return {};
  return enabled
    ? { disabledAt: null, disabledReason: null, failingSince: null }
    : { disabledAt: now, disabledReason: 'vendor' as const };
}
