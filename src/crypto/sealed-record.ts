import { openAesGcm, sealAesGcm } from './aead.ts';

const ivLength = 12;
const tagLength = 16;

/**
 * Encrypts a secret for the database with AES-256-GCM.
 * @param key 32 bytes
 * @param id associated data, so that an attacker with access to the database cannot move the secret to another row
 * @returns `IV ‖ ciphertext ‖ tag`
 */
export function sealRecord(key: Uint8Array, id: Uint8Array, secret: Uint8Array): Uint8Array<ArrayBuffer> {
  const { iv, ciphertext, tag } = sealAesGcm(key, secret, id);
  return new Uint8Array(Buffer.concat([iv, ciphertext, tag]));
}

/** Decrypts a secret of `sealRecord`; null if the key is another one, or the row was altered. */
export const openRecord = (key: Uint8Array, id: Uint8Array, sealed: Uint8Array): Uint8Array | null =>
  openAesGcm(
    key,
    {
      iv: sealed.subarray(0, ivLength),
      ciphertext: sealed.subarray(ivLength, -tagLength),
      tag: sealed.subarray(-tagLength),
    },
    id,
  );
