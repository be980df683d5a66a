import { createCipheriv, createDecipheriv } from 'node:crypto';
import { randomBytes } from '../lib/random-bytes.ts';
import type { RawEnvelope } from '../protocol/envelope.ts';

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

/**
 * Encrypts a plaintext with AES-256-GCM and a random IV (NIST SP 800-38D).
 * @param key 32 bytes
 * @param associatedData authenticated but not part of the envelope: the record's id for stored secrets, none in the
 *   sealed protocol (SPEC §5)
 * @throws {RangeError} if the key has another length
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
 * Decrypts an envelope. Returns null if it was altered or was sealed with another key or other associated data, or if its
 * IV or tag has the wrong length (shorter tags are easier to forge).
 * @param key 32 bytes
 * @throws {RangeError} if the key has another length
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
