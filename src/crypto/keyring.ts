import { createPublicKey, hkdfSync, type KeyObject } from 'node:crypto';
import { ed25519PrivateKey } from './ed25519-private-key.ts';

/** Every key that the service holds, each derived from the master secret under a label of its own (design §4). */
export interface Keyring {
  /** Ed25519 key that signs the `service_session` cookie, and its public half. */
  readonly cookie: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
  /** AES-256 key that encrypts applications' private keys at rest. */
  readonly applicationKey: Uint8Array;
  /** Secret that the keys of session tickets are derived from. */
  readonly ticketSecret: Uint8Array;
}

/**
 * Derives the keyring.
 * @param masterSecret at least 32 bytes
 */
export function createKeyring(masterSecret: Uint8Array): Keyring {
  const derive = (label: string) =>
    new Uint8Array(hkdfSync('sha256', masterSecret, new Uint8Array(0), `latchkey/${label}`, 32));
  const privateKey = ed25519PrivateKey(derive('cookie-signing/v1'));
  return {
    cookie: { privateKey, publicKey: createPublicKey(privateKey) },
    applicationKey: derive('application-private-key/v1'),
    ticketSecret: derive('session-ticket/v1'),
  };
}
