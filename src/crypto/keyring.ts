import { createPublicKey, hkdfSync, type KeyObject } from 'node:crypto';
import { ed25519PrivateKey } from './ed25519-private-key.ts';

/** The keys of one master secret, each derived under a label of its own (design §4). */
export interface SecretKeys {
  /** Ed25519 key that signs the `service_session` cookie, and its public half. */
  readonly cookie: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
  /** AES-256 key that encrypts applications' private keys at rest. */
  readonly applicationKey: Uint8Array;
  /** Secret that the keys of session tickets are derived from. */
  readonly ticketSecret: Uint8Array;
  /** Distinguishes this master secret from others without revealing it: stored with the data. */
  readonly fingerprint: Uint8Array;
}

/** The keys of a master secret that another has replaced. What they protect is honoured; nothing is made with them. */
export interface PreviousKeys extends SecretKeys {
  /** When it was replaced, in milliseconds since the epoch: nothing that it signed is younger. Null: not known. */
  readonly replacedAt: number | null;
}

/** Every key that the service holds: everything that is made is made with these, and read with the previous as well. */
export interface Keyring extends SecretKeys {
  readonly previous: readonly PreviousKeys[];
}

/** A master secret that was in use before. */
export interface PreviousSecret {
  readonly secret: Uint8Array;
  readonly replacedAt: number | null;
}

/**
 * Derives the keyring.
 * @param masterSecret at least 32 bytes
 * @param previous those before it, the likeliest first
 */
export function createKeyring(masterSecret: Uint8Array, previous: readonly PreviousSecret[] = []): Keyring {
  return {
    ...deriveKeys(masterSecret),
    previous: previous.map(({ secret, replacedAt }) => ({ ...deriveKeys(secret), replacedAt })),
  };
}

function deriveKeys(masterSecret: Uint8Array): SecretKeys {
  const derive = (label: string) =>
    new Uint8Array(hkdfSync('sha256', masterSecret, new Uint8Array(0), `latchkey/${label}`, 32));
  const privateKey = ed25519PrivateKey(derive('cookie-signing/v1'));
  return {
    cookie: { privateKey, publicKey: createPublicKey(privateKey) },
    applicationKey: derive('application-private-key/v1'),
    ticketSecret: derive('session-ticket/v1'),
    fingerprint: derive('secret-fingerprint/v1'),
  };
}
