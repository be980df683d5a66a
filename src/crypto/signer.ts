import { createPublicKey, sign } from 'node:crypto';
import { type JWTPayload, SignJWT } from 'jose';
import { ed25519PrivateKey } from './ed25519-private-key.ts';

/** Signs with one Ed25519 key. */
export interface Signer {
  /** Returns the 64-byte signature of a message (RFC 8032 §5.1.6). */
  sign(message: Uint8Array): Uint8Array;
  /** Signs a JWT whose header is `{"alg":"EdDSA","typ":…}`, byte for byte. */
  signToken(type: string, claims: JWTPayload): Promise<string>;
  /** 32 raw bytes. */
  readonly publicKey: Uint8Array;
}

/**
 * Creates a signer. It imports the key once, because an import costs about as much as a signature.
 * @param seed 32 bytes
 * @throws {RangeError} if the seed has another length
 */
export function createSigner(seed: Uint8Array): Signer {
  const privateKey = ed25519PrivateKey(seed);
  // The SPKI encoding (RFC 8410 §4) ends with the 32 raw bytes.
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return {
    publicKey: new Uint8Array(spki.subarray(-32)),
    sign: (message) => sign(null, message, privateKey),
    signToken: (typ, claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', typ }).sign(privateKey),
  };
}
