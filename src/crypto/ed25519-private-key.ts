import { createPrivateKey, type KeyObject } from 'node:crypto';

/** PKCS #8 of an Ed25519 private key (RFC 8410 §7), up to the 32-byte seed that ends it. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Node's key object of an Ed25519 seed.
 * @throws {RangeError} where the seed is not of 32 bytes
 */
export function ed25519PrivateKey(seed: Uint8Array): KeyObject {
  if (seed.length !== 32) throw new RangeError(`An Ed25519 seed must be 32 bytes, not ${seed.length}`);
  return createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' });
}
