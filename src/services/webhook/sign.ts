import { Webhook } from 'standardwebhooks';

/** The beginning of a secret, as the specification of Standard Webhooks defines it. */
const prefix = 'whsec_';

/** The text of a signing secret that a receiver is configured with. */
export const secretText = (secret: Uint8Array): string => prefix + Buffer.from(secret).toString('base64');

export interface Signed {
  /** The same for each attempt, so that a receiver recognizes a message that it has processed. */
  readonly id: string;
  /** When the attempt is made. */
  readonly at: Date;
  readonly body: string;
}

/**
 * The header fields of a message after Standard Webhooks, with a signature for each secret.
 * @param secrets the current one, and the previous one during its last 24 hours
 */
export function signedFields(
  { id, at, body }: Signed,
  secrets: readonly Uint8Array[],
): Readonly<Record<string, string>> {
  const signatures = secrets.map((secret) => new Webhook(secretText(secret)).sign(id, at, body));
  return {
    'content-type': 'application/json',
    'user-agent': 'Latchkey-Webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signatures.join(' '),
  };
}
