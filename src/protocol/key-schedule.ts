import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, requireLength, utf8 } from './bytes.ts';
import { handshakeNonceBytes, sessionKeyBytes, sessionKeyLabel } from './constants.ts';

export interface SessionKeyInput {
  /** 32 bytes, drawn by the client. */
  readonly clientNonce: Uint8Array;
  /** 32 bytes, drawn by the server. */
  readonly serverNonce: Uint8Array;
  readonly salt: Uint8Array;
  /** The application's id in its canonical spelling. */
  readonly appId: string;
}

/**
 * The AES-256 key of a session (SPEC §4): HKDF-SHA256 (RFC 5869) over the two nonces.
 * @returns 32 bytes
 * @throws {RangeError} where a nonce is not 32 bytes
 */
export function deriveSessionKey({ clientNonce, serverNonce, salt, appId }: SessionKeyInput): Uint8Array {
  requireLength(clientNonce, handshakeNonceBytes, 'The client nonce');
  requireLength(serverNonce, handshakeNonceBytes, 'The server nonce');
  const keyingMaterial = concatBytes(clientNonce, serverNonce);
  return hkdf(sha256, keyingMaterial, salt, utf8(sessionKeyLabel + appId), sessionKeyBytes);
}
