import type { Keyring } from './keyring.ts';
import { openRecord, sealRecord } from './sealed-record.ts';

/** Encrypts a TOTP secret for the database. */
export const sealTotpSecret = (
  { totpSecret }: Pick<Keyring, 'totpSecret'>,
  developerId: string,
  secret: Uint8Array,
): Uint8Array<ArrayBuffer> => sealRecord(totpSecret, Buffer.from(developerId), secret);

/** Decrypts a TOTP secret with the current or a previous master secret; null if none of them fits. */
export function openTotpSecret(
  keyring: Keyring,
  developerId: string,
  sealed: Uint8Array,
): { readonly secret: Uint8Array<ArrayBuffer>; readonly isCurrent: boolean } | null {
  for (const keys of [keyring, ...keyring.previous]) {
    const opened = openRecord(keys.totpSecret, Buffer.from(developerId), sealed);
    // A copy, because the library takes the whole buffer.
    if (opened !== null) return { secret: new Uint8Array(opened), isCurrent: keys === keyring };
  }
  return null;
}
