import { concatBytes } from '../protocol/bytes.ts';
import type { Keyring } from './keyring.ts';
import { openRecord, sealRecord } from './sealed-record.ts';
import type { X25519KeyPair } from './x25519.ts';

/** A private key of protocol version 2 as stored. */
export interface SealedServiceKey {
  readonly keyId: number;
  readonly publicKey: Uint8Array;
  readonly privateKeyEncrypted: Uint8Array;
}

const idOf = (keyId: number, publicKey: Uint8Array): Uint8Array =>
  concatBytes(Uint8Array.of(keyId), publicKey);

/** Encrypts a service key's private half for the database. */
export const sealServiceKey = (
  { serviceKey }: Pick<Keyring, 'serviceKey'>,
  keyId: number,
  { publicKey, privateKey }: X25519KeyPair,
): Uint8Array<ArrayBuffer> => sealRecord(serviceKey, idOf(keyId, publicKey), privateKey);

/** Decrypts a private key with the current or a previous master secret; null if none of them fits. */
export function openServiceKey(
  keyring: Keyring,
  { keyId, publicKey, privateKeyEncrypted }: SealedServiceKey,
): { readonly privateKey: Uint8Array; readonly isCurrent: boolean } | null {
  const id = idOf(keyId, publicKey);
  for (const keys of [keyring, ...keyring.previous]) {
    const privateKey = openRecord(keys.serviceKey, id, privateKeyEncrypted);
    if (privateKey !== null) return { privateKey, isCurrent: keys === keyring };
  }
  return null;
}
