import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { expand, extract } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, requireLength, utf8 } from '../bytes.ts';
import { aeadId, kdfId, kemId, keyBytes } from './constants.ts';

// HPKE (RFC 9180) in base mode, with the only suite of version 2. A context is for one message: the sequence is always 0.

const empty = new Uint8Array();
const kemSuite = concatBytes(utf8('KEM'), kemId);
const suite = concatBytes(utf8('HPKE'), kemId, kdfId, aeadId);
const baseMode = Uint8Array.of(0);
const secretBytes = 32;
const nonceBytes = 12;

/** What both sides have after the key agreement. */
export interface KeyAgreement {
  /** The result of X25519. */
  readonly sharedPoint: Uint8Array;
  /** The sender's ephemeral public key (`enc`). */
  readonly encapsulatedKey: Uint8Array;
  readonly recipientKey: Uint8Array;
  /** Binds the context to its use. */
  readonly info: Uint8Array;
}

export interface HpkeContext {
  /** Encrypts the message. Call it once: a second message would use the same nonce. */
  seal(plaintext: Uint8Array): Uint8Array;
  /** Decrypts the message; null if it is not authentic. */
  open(ciphertext: Uint8Array): Uint8Array | null;
  /** Derives a further secret that only both sides know (RFC 9180 §5.3). */
  exportSecret(exporterContext: Uint8Array, length: number): Uint8Array;
}

/**
 * Derives a context (RFC 9180 §4.1 and §5.1).
 * @returns null if the shared point is zero, as with a public key of small order (§7.1.4)
 * @throws {RangeError} if a key is not 32 bytes
 */
export function deriveContext({
  sharedPoint,
  encapsulatedKey,
  recipientKey,
  info,
}: KeyAgreement): HpkeContext | null {
  requireLength(sharedPoint, keyBytes, 'The shared point');
  requireLength(encapsulatedKey, keyBytes, 'The encapsulated key');
  requireLength(recipientKey, keyBytes, "The recipient's key");
  if (isZero(sharedPoint)) return null;
  const prk = labelledExtract(kemSuite, empty, 'eae_prk', sharedPoint);
  const kemContext = concatBytes(encapsulatedKey, recipientKey);
  return scheduleKeys(labelledExpand(kemSuite, prk, 'shared_secret', kemContext, secretBytes), info);
}

function scheduleKeys(sharedSecret: Uint8Array, info: Uint8Array): HpkeContext {
  const context = concatBytes(
    baseMode,
    labelledExtract(suite, empty, 'psk_id_hash', empty),
    labelledExtract(suite, empty, 'info_hash', info),
  );
  const secret = labelledExtract(suite, sharedSecret, 'secret', empty);
  const key = labelledExpand(suite, secret, 'key', context, keyBytes);
  const nonce = labelledExpand(suite, secret, 'base_nonce', context, nonceBytes);
  const exporterSecret = labelledExpand(suite, secret, 'exp', context, secretBytes);
  return {
    seal: (plaintext) => chacha20poly1305(key, nonce).encrypt(plaintext),
    open: (ciphertext) => openChaCha(key, nonce, ciphertext),
    exportSecret: (exporterContext, length) =>
      labelledExpand(suite, exporterSecret, 'sec', exporterContext, length),
  };
}

/** Decrypts ChaCha20-Poly1305; null if the ciphertext is not authentic. */
export function openChaCha(key: Uint8Array, nonce: Uint8Array, ciphertext: Uint8Array): Uint8Array | null {
  try {
    return chacha20poly1305(key, nonce).decrypt(ciphertext);
  } catch {
    return null;
  }
}

/** LabeledExtract (RFC 9180 §4). */
function labelledExtract(of: Uint8Array, salt: Uint8Array, label: string, ikm: Uint8Array): Uint8Array {
  return extract(sha256, concatBytes(utf8('HPKE-v1'), of, utf8(label), ikm), salt);
}

/** LabeledExpand (RFC 9180 §4). */
function labelledExpand(
  of: Uint8Array,
  prk: Uint8Array,
  label: string,
  info: Uint8Array,
  length: number,
): Uint8Array {
  const lengthBytes = Uint8Array.of(length >> 8, length & 0xff);
  return expand(sha256, prk, concatBytes(lengthBytes, utf8('HPKE-v1'), of, utf8(label), info), length);
}

/** Constant-time, as the point is secret. */
function isZero(bytes: Uint8Array): boolean {
  let bits = 0;
  for (const byte of bytes) bits |= byte;
  return bits === 0;
}
