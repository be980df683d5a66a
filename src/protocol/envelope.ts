import { gcm } from '@noble/ciphers/aes.js';
import { decodeBase64, encodeBase64 } from './base64.ts';
import { concatBytes, randomBytes, requireLength } from './bytes.ts';
import { ivBytes, sessionKeyBytes, tagBytes } from './constants.ts';

/** An AES-256-GCM envelope as it travels (SPEC §5): standard base64 with padding. */
export interface SealedEnvelope {
  readonly ivB64: string;
  readonly ciphertextB64: string;
  readonly tagB64: string;
}

/** The same envelope in bytes. */
export interface RawEnvelope {
  /** 12 bytes. */
  readonly iv: Uint8Array;
  readonly ciphertext: Uint8Array;
  /** 16 bytes. */
  readonly tag: Uint8Array;
}

/** The bytes of an envelope, or null where a part is not canonical base64 or not of its one length. */
export function parseEnvelope(envelope: SealedEnvelope): RawEnvelope | null {
  const iv = decodeBase64(envelope.ivB64);
  const ciphertext = decodeBase64(envelope.ciphertextB64);
  const tag = decodeBase64(envelope.tagB64);
  if (iv?.length !== ivBytes || ciphertext === null || tag?.length !== tagBytes) return null;
  return { iv, ciphertext, tag };
}

/** An envelope in the form that travels. */
export function formatEnvelope({ iv, ciphertext, tag }: RawEnvelope): SealedEnvelope {
  return { ivB64: encodeBase64(iv), ciphertextB64: encodeBase64(ciphertext), tagB64: encodeBase64(tag) };
}

/**
 * Seals a plaintext without associated data.
 * @param key 32 bytes
 * @param iv 12 bytes, never used twice under one key: GCM then gives up its authentication key. Leave it out,
 *   and it is drawn at random; test vectors alone fix it.
 * @throws {RangeError} where the key or the IV has another length
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
 * The plaintext of an envelope, or null where it is malformed, was changed, or was sealed under another key: the
 * three are not told apart, here or on the wire.
 * @param key 32 bytes
 * @throws {RangeError} where the key has another length
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
