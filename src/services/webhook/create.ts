import { sealWebhookSecrets } from '../../crypto/sealed-webhook-secrets.ts';
import type { Prisma } from '../../db/client.ts';
import { newId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { CallOf } from '../context.ts';
import { strictObject } from '../fields.ts';
import { numberEvents } from '../outbox/number-events.ts';
import { requireOwnApplication } from '../own-application.ts';
import { parseInput } from '../parse-input.ts';
import { requireConfirmation } from '../require-confirmation.ts';
import { lockAccountForCount, requireRoom } from '../require-room.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';
import { members } from './fields.ts';
import { newWebhookSecret } from './secrets.ts';
import { secretText } from './sign.ts';
import { requireUrl } from './url.ts';
import { type WebhookView, webhookSelect, webhookView } from './view.ts';

/** A new webhook. */
export const createWebhookInput = strictObject({
  ...members,
  applicationId: members.applicationId.optional(),
  description: members.description.optional(),
});

/** A webhook with its signing secret, which is shown only now. */
export interface WebhookWithSecret {
  readonly webhook: WebhookView;
  /** `whsec_…`, as receivers are configured with it. */
  readonly secret: string;
}

/**
 * Creates a webhook, which gets the events from now on. The database stores its secret only encrypted. Events go wherever
 * the caller wants, so they must be allowed to read them.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, CONFIRMATION_REQUIRED, VALIDATION_FAILED, APP_NOT_FOUND, LIMIT_REACHED
 */
export async function createWebhook({
  ctx,
  input: given,
}: CallOf<typeof createWebhookInput>): Promise<WebhookWithSecret> {
  const developerId = requireDeveloper(ctx.actor, 'webhooks:write', 'events:read');
  const { applicationId = null, ...input } = parseInput(createWebhookInput, given);
  requireUrl(input.url, ctx.env.settings.webhookAllow);
  await requireConfirmation(ctx);
  if (applicationId !== null) await requireOwnApplication(ctx, applicationId, 'webhooks:write');
  // Otherwise, events of long ago could get their numbers later, and be sent.
  await numberEvents(ctx.env.database.pool, developerId);
  const id = newId();
  const secret = newWebhookSecret();
  const secretsEncrypted = sealWebhookSecrets(ctx.env.keyring, id, { current: secret, previous: null });
  return developerTransaction(ctx, developerId, async (transaction) => {
    await lockAccountForCount(ctx, transaction, developerId);
    await requireRoom(ctx, transaction, 'webhooks', { ownerId: developerId, more: 1 });
    const lastSequence = await readLastSequence(transaction, developerId);
    const created = await transaction.webhook.create({
      data: { id, developerId, applicationId, ...input, secretsEncrypted, lastSequence },
      select: webhookSelect,
    });
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: null,
      event: 'webhook_created',
      metadata: { webhookId: id },
    });
    return { webhook: webhookView(created), secret: secretText(secret) };
  });
}

async function readLastSequence(transaction: Prisma.TransactionClient, developerId: string): Promise<bigint> {
  const stream = await transaction.eventStream.findUnique({
    where: { developerId },
    select: { lastSequence: true },
  });
  return stream?.lastSequence ?? 0n;
}
