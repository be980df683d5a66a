import { openWebhookSecrets, sealWebhookSecrets } from '../../crypto/sealed-webhook-secrets.ts';
import { isId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { webhookNotFound } from '../errors.ts';
import { requireConfirmation } from '../require-confirmation.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';
import type { WebhookWithSecret } from './create.ts';
import { newWebhookSecret, overlapMilliseconds } from './secrets.ts';
import { secretText } from './sign.ts';
import { webhookSelect, webhookView } from './view.ts';

/**
 * Replaces the signing secret of a webhook. For 24 hours, messages have a signature with the old secret too, so that the
 * receiver can be changed in between. A second rotation in this time ends the oldest secret.
 * @throws {ServiceError} UNAUTHENTICATED, CONFIRMATION_REQUIRED, WEBHOOK_NOT_FOUND
 */
export async function rotateWebhookSecret({
  ctx,
  input: { id },
}: Call<{ id: string }>): Promise<WebhookWithSecret> {
  const developerId = requireDeveloper(ctx.actor, 'webhooks:write');
  if (!isId(id)) throw webhookNotFound();
  await requireConfirmation(ctx);
  const { clock, keyring } = ctx.env;
  const secret = newWebhookSecret();
  return developerTransaction(ctx, developerId, async (transaction) => {
    const [found] = await transaction.$queryRaw<{ sealed: Uint8Array }[]>`
      SELECT secrets_encrypted AS sealed FROM webhooks
      WHERE id = ${id}::uuid AND developer_id = ${developerId}::uuid FOR UPDATE`;
    if (found === undefined) throw webhookNotFound();
    // Null if the master secret was lost: the new secret then makes the webhook usable again.
    const previous = openWebhookSecrets(keyring, id, found.sealed)?.current ?? null;
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: null,
      event: 'webhook_secret_rotated',
      metadata: { webhookId: id },
    });
    const row = await transaction.webhook.update({
      where: { id },
      data: {
        secretsEncrypted: sealWebhookSecrets(keyring, id, { current: secret, previous }),
        previousSecretUntil: previous === null ? null : new Date(clock.now() + overlapMilliseconds),
      },
      select: webhookSelect,
    });
    return { webhook: webhookView(row), secret: secretText(secret) };
  });
}
