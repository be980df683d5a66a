import * as ed25519 from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';
import { decodeBase64 } from './base64.ts';
import { utf8 } from './bytes.ts';
import { canonicalJson, type JsonValue } from './canonical-json.ts';

// The library needs a SHA-512 implementation. This one is synchronous and does not need Web Crypto's subtle API, which
// browsers disable on plain http pages.
ed25519.hashes.sha512 = sha512;

/**
 * Signs a message with Ed25519 (RFC 8032 §5.1.6).
 * @param seed the 32-byte private key
 * @returns 64 bytes
 * @throws {RangeError} if the seed has another length
 */
export function signBytes(message: Uint8Array, seed: Uint8Array): Uint8Array {
  return ed25519.sign(message, seed);
}

/** Derives the 32-byte public key of a seed. @throws {RangeError} if the seed is not 32 bytes */
export function getPublicKey(seed: Uint8Array): Uint8Array {
  return ed25519.getPublicKey(seed);
}

/**
 * Verifies an Ed25519 signature by the strict rules of SPEC §7: canonical encodings, S below the group order, and no
 * small-order key (under which one signature fits many messages). Returns false for malformed input and never throws.
 */
export function verifyBytes(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}

/** Verifies a base64 signature over a value's canonical JSON; false if the value has no canonical JSON. */
export function verifySignatureB64(signatureB64: string, value: JsonValue, publicKey: Uint8Array): boolean {
  const signature = decodeBase64(signatureB64);
  if (signature === null) return false;
  try {
    return verifyBytes(signature, utf8(canonicalJson(value)), publicKey);
  } catch {
    return false;
  }
}
