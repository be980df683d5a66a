import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { expand, extract } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';

/** The functions that version 2 is made of. A platform may have faster ones than those here. */
export interface Primitives {
  /** HKDF-Extract with SHA-256 (RFC 5869 §2.2). */
  extract(salt: Uint8Array, keyMaterial: Uint8Array): Uint8Array;
  /** HKDF-Expand with SHA-256 (RFC 5869 §2.3). Throws for more than 8,160 bytes. */
  expand(pseudorandomKey: Uint8Array, info: Uint8Array, length: number): Uint8Array;
  /** ChaCha20-Poly1305 without associated data (RFC 8439 §2.8); the tag is at the end. */
  seal(key: Uint8Array, nonce: Uint8Array, plaintext: Uint8Array): Uint8Array;
  /** The inverse of `seal`; null if the ciphertext is not authentic. */
  open(key: Uint8Array, nonce: Uint8Array, ciphertext: Uint8Array): Uint8Array | null;
}

/** Runs everywhere. */
export const noblePrimitives: Primitives = {
  extract: (salt, keyMaterial) => extract(sha256, keyMaterial, salt),
  expand: (pseudorandomKey, info, length) => expand(sha256, pseudorandomKey, info, length),
  seal: (key, nonce, plaintext) => chacha20poly1305(key, nonce).encrypt(plaintext),
  open: (key, nonce, ciphertext) => {
    try {
      return chacha20poly1305(key, nonce).decrypt(ciphertext);
    } catch {
      return null;
    }
  },
};
