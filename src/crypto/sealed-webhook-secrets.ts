import { concatBytes } from '../protocol/bytes.ts';
import type { Keyring } from './keyring.ts';
import { openRecord, sealRecord } from './sealed-record.ts';

/** The length of a signing secret in bytes. */
export const webhookSecretBytes = 32;

/** The secrets that sign the messages of a webhook. */
export interface WebhookSecrets {
  readonly current: Uint8Array;
  /** The secret before the last rotation, or null. */
  readonly previous: Uint8Array | null;
}

/** Encrypts the secrets of a webhook for the database. */
export const sealWebhookSecrets = (
  { webhookKey }: Pick<Keyring, 'webhookKey'>,
  webhookId: string,
  { current, previous }: WebhookSecrets,
): Uint8Array<ArrayBuffer> =>
  sealRecord(
    webhookKey,
    Buffer.from(webhookId),
    previous === null ? current : concatBytes(current, previous),
  );

/** Decrypts the secrets of a webhook with the current or a previous master secret; null if none of them fits. */
export function openWebhookSecrets(
  keyring: Keyring,
  webhookId: string,
  sealed: Uint8Array,
): (WebhookSecrets & { readonly isCurrent: boolean }) | null {
  for (const keys of [keyring, ...keyring.previous]) {
    const opened = openRecord(keys.webhookKey, Buffer.from(webhookId), sealed);
    if (opened === null) continue;
    const previous = opened.subarray(webhookSecretBytes);
    return {
      current: opened.subarray(0, webhookSecretBytes),
      previous: previous.length === 0 ? null : previous,
      isCurrent: keys === keyring,
    };
  }
  return null;
}
