import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { requireLength } from '../protocol/bytes.ts';
import { encodeBase64Url } from './base64.ts';

const keyBytes = 32;
const jwk = { kty: 'OKP', crv: 'X25519' } as const;

/** An X25519 key pair as bytes, 32 each. */
export interface X25519KeyPair {
  readonly privateKey: Uint8Array;
  readonly publicKey: Uint8Array;
}

/**
 * Generates a random key pair. Both keys come as DER (RFC 8410), which ends with their 32 bytes. With JWK, Node.js 20 can wait
 * forever: if garbage is collected during the export of a new pair, it waits for a lock that the export holds.
 */
export function generateX25519(): X25519KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('x25519', {
    privateKeyEncoding: { format: 'der', type: 'pkcs8' },
    publicKeyEncoding: { format: 'der', type: 'spki' },
  });
  return { privateKey: lastBytes(privateKey), publicKey: lastBytes(publicKey) };
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

const lastBytes = (der: Uint8Array): Uint8Array => new Uint8Array(der.subarray(-keyBytes));
