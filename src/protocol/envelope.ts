import { gcm } from '@noble/ciphers/aes.js';
import { decodeBase64, encodeBase64 } from './base64.ts';
import { concatBytes, randomBytes, requireLength } from './bytes.ts';
import { ivBytes, sessionKeyBytes, tagBytes } from './constants.ts';

/** An AES-256-GCM envelope as sent (SPEC §5), in standard base64 with padding. */
export interface SealedEnvelope {
  readonly ivB64: string;
  readonly ciphertextB64: string;
  readonly tagB64: string;
}

/** An AES-256-GCM envelope in bytes. */
export interface RawEnvelope {
  /** 12 bytes. */
  readonly iv: Uint8Array;
  readonly ciphertext: Uint8Array;
  /** 16 bytes. */
  readonly tag: Uint8Array;
}

/** Decodes an envelope; null if a part is not canonical base64 or has the wrong length. */
export function parseEnvelope(envelope: SealedEnvelope): RawEnvelope | null {
  const iv = decodeBase64(envelope.ivB64);
  const ciphertext = decodeBase64(envelope.ciphertextB64);
  const tag = decodeBase64(envelope.tagB64);
  if (iv?.length !== ivBytes || ciphertext === null || tag?.length !== tagBytes) return null;
  return { iv, ciphertext, tag };
}

/** Encodes an envelope for sending. */
export function formatEnvelope({ iv, ciphertext, tag }: RawEnvelope): SealedEnvelope {
  return { ivB64: encodeBase64(iv), ciphertextB64: encodeBase64(ciphertext), tagB64: encodeBase64(tag) };
}

/**
 * Seals a plaintext, without associated data.
 * @param key 32 bytes
 * @param iv 12 bytes; random by default. Pass one only for test vectors: reusing an IV under the same key reveals GCM's
 *   authentication key.
 * @throws {RangeError} if the key or the IV has another length
 */
export function sealEnvelope(
  key: Uint8Array,
  plaintext: Uint8Array,
  iv: Uint8Array = randomBytes(ivBytes),
): SealedEnvelope {
  requireLength(key, sessionKeyBytes, 'The key');
  requireLength(iv, ivBytes, 'The IV');
  const sealed = gcm(key, iv).encrypt(plaintext);
  const end = sealed.length - tagBytes;
  return formatEnvelope({ iv, ciphertext: sealed.subarray(0, end), tag: sealed.subarray(end) });
}

/**
 * Opens an envelope. Returns null if it is malformed, was altered, or was sealed under another key; neither this
 * function nor the protocol distinguishes these cases.
 * @param key 32 bytes
 * @throws {RangeError} if the key has another length
 */
export function openEnvelope(key: Uint8Array, envelope: SealedEnvelope): Uint8Array | null {
  requireLength(key, sessionKeyBytes, 'The key');
  const raw = parseEnvelope(envelope);
  if (raw === null) return null;
  try {
    return gcm(key, raw.iv).decrypt(concatBytes(raw.ciphertext, raw.tag));
  } catch {
    return null;
  }
}
