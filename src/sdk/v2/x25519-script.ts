import { x25519 } from '@noble/curves/ed25519.js';

/** The sender's side of a key agreement. */
export interface Agreement {
  /** The sender's ephemeral public key, 32 bytes. */
  readonly encapsulatedKey: Uint8Array;
  /** The result of X25519, 32 bytes. Zero, or no agreement at all, if the recipient's key is of small order. */
  readonly sharedPoint: Uint8Array;
}

/** Agrees in JavaScript. @returns null if the point would be zero */
export function agreeByScript(recipientKey: Uint8Array): Agreement | null {
  const { secretKey, publicKey } = x25519.keygen();
  try {
    return { encapsulatedKey: publicKey, sharedPoint: x25519.getSharedSecret(secretKey, recipientKey) };
  } catch {
    // The library refuses a zero point. Nothing else can fail: the lengths are checked with the statement.
    return null;
  }
}
