import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto';

/** Every key that the service holds, each derived from the master secret under a label of its own (design §4). */
export interface Keyring {
  /** Ed25519 key that signs the `service_session` cookie, and its public half. */
  readonly cookie: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
  /** AES-256 key that encrypts applications' private keys at rest. */
  readonly applicationKey: Uint8Array;
  /** Secret that the keys of session tickets are derived from. */
  readonly ticketSecret: Uint8Array;
}

/** PKCS #8 wrapping of a raw Ed25519 seed (RFC 8410 §7). */
const ed25519Pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Derives the keyring.
 * @param masterSecret at least 32 bytes
 */
export function createKeyring(masterSecret: Uint8Array): Keyring {
  const derive = (label: string) =>
    new Uint8Array(hkdfSync('sha256', masterSecret, new Uint8Array(0), `latchkey/${label}`, 32));
  const privateKey = createPrivateKey({
    key: Buffer.concat([ed25519Pkcs8Prefix, derive('cookie-signing/v1')]),
    format: 'der',
    type: 'pkcs8',
  });
  return {
    cookie: { privateKey, publicKey: createPublicKey(privateKey) },
    applicationKey: derive('application-private-key/v1'),
    ticketSecret: derive('session-ticket/v1'),
  };
}
