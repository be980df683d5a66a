import { createPrivateKey, createPublicKey } from 'node:crypto';
import * as z from 'zod';
import { agreeX25519, type X25519KeyPair, x25519PrivateKey } from '../../../crypto/x25519.ts';
import { decodeBase64Url } from '../../../protocol/base64.ts';

/** PKCS #8 encoding of an X25519 private key (RFC 8410 §7), without the 32 bytes at its end. */
const pkcs8Prefix = Buffer.from('302e020100300506032b656e04220420', 'hex');
const publicJwk = z.object({ x: z.string() });

/** The key pair of a fixed private key. */
export function keyPairOf(privateKey: Uint8Array): X25519KeyPair {
  const der = Buffer.concat([pkcs8Prefix, privateKey]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = decodeBase64Url(publicJwk.parse(createPublicKey(key).export({ format: 'jwk' })).x);
  if (publicKey === null) throw new Error('Node.js exported a malformed key');
  return { privateKey, publicKey };
}

/** The shared point of a key pair and another public key. @throws {Error} if it is zero */
export function sharedPointOf(pair: X25519KeyPair, peer: Uint8Array): Uint8Array {
  const point = agreeX25519(x25519PrivateKey(pair), peer);
  if (point === null) throw new Error('The shared point is zero');
  return point;
}
