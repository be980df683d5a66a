import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { z } from 'zod';
import { requireLength } from '../protocol/bytes.ts';
import { decodeBase64Url, encodeBase64Url } from './base64.ts';

const keyBytes = 32;
const jwk = { kty: 'OKP', crv: 'X25519' } as const;
const privateJwk = z.object({ d: z.string(), x: z.string() });

/** An X25519 key pair as bytes, 32 each. */
export interface X25519KeyPair {
  readonly privateKey: Uint8Array;
  readonly publicKey: Uint8Array;
}

/** Generates a random key pair. */
export function generateX25519(): X25519KeyPair {
  const { d, x } = privateJwk.parse(generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' }));
  return { privateKey: bytesOf(d), publicKey: bytesOf(x) };
}

/**
 * Creates Node's key object. Keep it: every agreement with this key uses the same one.
 * @throws {RangeError} if a key is not 32 bytes
 */
export function x25519PrivateKey({ privateKey, publicKey }: X25519KeyPair): KeyObject {
  requireKey(privateKey);
  requireKey(publicKey);
  return createPrivateKey({
    key: { ...jwk, d: encodeBase64Url(privateKey), x: encodeBase64Url(publicKey) },
    format: 'jwk',
  });
}

/**
 * Agrees on a shared point with the owner of a public key (RFC 7748 §6.1). The peer's key is imported as JWK, which takes a
 * tenth of the time of DER.
 * @returns null if the point is zero, as with a peer's key of small order
 * @throws {RangeError} if the peer's key is not 32 bytes
 */
export function agreeX25519(privateKey: KeyObject, peer: Uint8Array): Uint8Array | null {
  requireKey(peer);
  const publicKey = createPublicKey({ key: { ...jwk, x: encodeBase64Url(peer) }, format: 'jwk' });
  try {
    return new Uint8Array(diffieHellman({ privateKey, publicKey }));
  } catch {
    // OpenSSL refuses a shared point of zero. Nothing else can fail: both keys are of this curve and length.
    return null;
  }
}

const requireKey = (bytes: Uint8Array): void => requireLength(bytes, keyBytes, 'An X25519 key');

function bytesOf(text: string): Uint8Array {
  const bytes = decodeBase64Url(text);
  if (bytes === null) throw new Error('Node.js exported a malformed key');
  return bytes;
}
