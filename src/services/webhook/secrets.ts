import { webhookSecretBytes } from '../../crypto/sealed-webhook-secrets.ts';
import { randomBytes } from '../../lib/random-bytes.ts';

/** How long messages are signed with the previous secret too, after a rotation, in milliseconds. */
export const overlapMilliseconds = 24 * 60 * 60 * 1000;

export const newWebhookSecret = (): Uint8Array => randomBytes(webhookSecretBytes);

/** Warning shown with a new secret. */
export const webhookSecretWarning =
  'This secret proves to your receiver that a message is from this service, and is shown only now. Store it where only your receiver reads it.';
