import type { Keyring } from '../../crypto/keyring.ts';
import { openWebhookSecrets } from '../../crypto/sealed-webhook-secrets.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ClaimedDelivery, WebhookTarget } from './claim.ts';
import { type SendOptions, sendWebhook, type WebhookAnswer } from './send.ts';
import { signedFields } from './sign.ts';

export interface AttemptOptions extends SendOptions {
  readonly keyring: Keyring;
  readonly clock: Clock;
}

/**
 * Makes an attempt: signs the event with the webhook's secrets, and sends it.
 * @throws {Error} only if `signal` was aborted
 */
export async function attemptDelivery(
  { webhook, event }: ClaimedDelivery,
  options: AttemptOptions,
): Promise<WebhookAnswer> {
  if (event === null) return notSent('The event is no longer kept.');
  const secrets = secretsOf(webhook, options);
  if (secrets === null) return notSent('The signing secret cannot be decrypted. Rotate it.');
  const body = JSON.stringify(event);
  // Receivers compare this time with their own clock, so it is the real one.
  const headers = signedFields({ id: event.id, at: new Date(), body }, secrets);
  return sendWebhook({ url: webhook.url, headers, body }, options);
}

/** The secrets that sign now; null if they were encrypted with another master secret. */
function secretsOf(
  { webhookId, secretsEncrypted, previousSecretUntil }: WebhookTarget,
  { keyring, clock }: AttemptOptions,
): readonly Uint8Array[] | null {
  const opened = openWebhookSecrets(keyring, webhookId, secretsEncrypted);
  if (opened === null) return null;
  const { current, previous } = opened;
  const isOverlap = previousSecretUntil !== null && clock.now() < previousSecretUntil.getTime();
  return previous !== null && isOverlap ? [current, previous] : [current];
}

const notSent = (error: string): WebhookAnswer => ({
  statusCode: null,
  answer: null,
  error,
  latencyMilliseconds: 0,
  retryAfter: null,
});
