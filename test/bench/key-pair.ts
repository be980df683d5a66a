import { generateKeyPairSync, type KeyObject } from 'node:crypto';

/**
 * Generates an X25519 key pair. The public key is exported as DER: of many thousands of exports as JWK, Node.js 20 does not
 * return from one. A garbage collection during that export waits for a lock of the pair that the export itself holds.
 */
export function generateKeyPair(): { readonly privateKey: KeyObject; readonly publicKeyBytes: Buffer } {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  // The SPKI encoding (RFC 8410 §4) ends with the 32 raw bytes.
  return { privateKey, publicKeyBytes: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32) };
}
