import { createPrivateKey, type KeyObject } from 'node:crypto';

/** PKCS #8 encoding of an Ed25519 private key (RFC 8410 §7), without the 32-byte seed at its end. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Creates Node's key object for an Ed25519 seed.
 * @throws {RangeError} if the seed is not 32 bytes
 */
export function ed25519PrivateKey(seed: Uint8Array): KeyObject {
  if (seed.length !== 32) throw new RangeError(`An Ed25519 seed must be 32 bytes, not ${seed.length}`);
  return createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' });
}
