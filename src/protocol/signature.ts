import * as ed25519 from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';
import { decodeBase64 } from './base64.ts';
import { utf8 } from './bytes.ts';
import { canonicalJson, type JsonValue } from './canonical-json.ts';

// The library leaves SHA-512 to its user; with this one it works synchronously and without Web Crypto, which
// browsers withhold from pages served over plain http.
ed25519.hashes.sha512 = sha512;

/**
 * The Ed25519 signature of a message (RFC 8032 §5.1.6), 64 bytes.
 * @param seed the 32-byte private key
 * @throws {RangeError} where the seed has another length
 */
export function signBytes(message: Uint8Array, seed: Uint8Array): Uint8Array {
  return ed25519.sign(message, seed);
}

/** The 32-byte public key of a seed. @throws {RangeError} where the seed is not 32 bytes */
export function getPublicKey(seed: Uint8Array): Uint8Array {
  return ed25519.getPublicKey(seed);
}

/**
 * Whether a signature is that of the message under the public key, by the strict rules of SPEC §7: canonical
 * encodings, S below the group order, no small-order key (under which one signature fits many messages).
 * Malformed input is false, never an exception.
 */
export function verifyBytes(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}

/** Whether a base64 signature is that of the value's canonical JSON. False where the value has none. */
export function verifySignatureB64(signatureB64: string, value: JsonValue, publicKey: Uint8Array): boolean {
  const signature = decodeBase64(signatureB64);
  if (signature === null) return false;
  try {
    return verifyBytes(signature, utf8(canonicalJson(value)), publicKey);
  } catch {
    return false;
  }
}
