import { createPrivateKey, createPublicKey, sign } from 'node:crypto';

/** Signs with one Ed25519 key. */
export interface Signer {
  /** The 64-byte signature of a message (RFC 8032 §5.1.6). */
  sign(message: Uint8Array): Uint8Array;
  /** 32 raw bytes. */
  readonly publicKey: Uint8Array;
}

/** PKCS #8 of an Ed25519 private key (RFC 8410 §7), up to the 32-byte seed that ends it. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * A signer that imports its key once: importing costs about as much as a signature (design §5, "The hot path").
 * @param seed 32 bytes
 * @throws {RangeError} where the seed has another length
 */
export function createSigner(seed: Uint8Array): Signer {
  if (seed.length !== 32) throw new RangeError(`An Ed25519 seed must be 32 bytes, not ${seed.length}`);
  const privateKey = createPrivateKey({
    key: Buffer.concat([pkcs8Prefix, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  // The SPKI form (RFC 8410 §4) ends in the 32 raw bytes.
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return {
    publicKey: new Uint8Array(spki.subarray(-32)),
    sign: (message) => sign(null, message, privateKey),
  };
}
