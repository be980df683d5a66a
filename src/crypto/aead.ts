import { createCipheriv, createDecipheriv } from 'node:crypto';
import { randomBytes } from '../lib/random-bytes.ts';
import type { RawEnvelope } from '../protocol/envelope.ts';

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

/**
 * Seals a plaintext under AES-256-GCM with a random IV (SP 800-38D).
 * @param key 32 bytes
 * @param associatedData authenticated with the plaintext and not part of the envelope; none in the sealed
 *   protocol (SPEC §5), the record's identity where a secret is stored
 * @throws {RangeError} where the key has another length
 */
export function sealAesGcm(key: Uint8Array, plaintext: Uint8Array, associatedData?: Uint8Array): RawEnvelope {
  requireKey(key);
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagBytes });
  if (associatedData !== undefined) cipher.setAAD(associatedData);
  const ciphertext = cipher.update(plaintext);
  cipher.final();
  return { iv, ciphertext, tag: cipher.getAuthTag() };
}

/**
 * The plaintext of an envelope, or null where it was changed, was sealed under another key or with other
 * associated data, or has an IV or tag of another length (a short tag is easier to forge).
 * @param key 32 bytes
 * @throws {RangeError} where the key has another length
 */
export function openAesGcm(
  key: Uint8Array,
  raw: RawEnvelope,
  associatedData?: Uint8Array,
): Uint8Array | null {
  requireKey(key);
  if (raw.iv.length !== ivBytes || raw.tag.length !== tagBytes) return null;
  const decipher = createDecipheriv(algorithm, key, raw.iv, { authTagLength: tagBytes });
  if (associatedData !== undefined) decipher.setAAD(associatedData);
  decipher.setAuthTag(raw.tag);
  const plaintext = decipher.update(raw.ciphertext);
  try {
    decipher.final();
    return plaintext;
  } catch {
    return null;
  }
}

function requireKey(key: Uint8Array): void {
  if (key.length !== keyBytes) throw new RangeError(`An AES-256 key must be 32 bytes, not ${key.length}`);
}
