import { createPublicKey, hkdfSync, type KeyObject } from 'node:crypto';
import { ed25519PrivateKey } from './ed25519-private-key.ts';

/** The keys derived from one master secret, each under its own label. */
export interface SecretKeys {
  /** Ed25519 key pair that signs the `service_session` cookie. */
  readonly cookie: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
  /** AES-256 key that encrypts applications' private keys at rest. */
  readonly applicationKey: Uint8Array;
  /** AES-256 key that encrypts the private keys of protocol version 2 at rest. */
  readonly serviceKey: Uint8Array;
  /** AES-256 key that encrypts TOTP secrets at rest. */
  readonly totpSecret: Uint8Array;
  /** AES-256 key that encrypts the signing secrets of webhooks at rest. */
  readonly webhookKey: Uint8Array;
  /** Secret from which the keys of session tickets are derived. */
  readonly ticketSecret: Uint8Array;
  /** Secret from which the keys of stored answers are derived, together with the clients' own keys. */
  readonly answerSecret: Uint8Array;
  /** Identifies the master secret without revealing it; stored with the data. */
  readonly fingerprint: Uint8Array;
}

/** The keys of a replaced master secret. They still open and verify, but never seal or sign. */
export interface PreviousKeys extends SecretKeys {
  /** When the secret was replaced, in milliseconds since the epoch; nothing signed with it is newer. Null if unknown. */
  readonly replacedAt: number | null;
}

/** All keys of the service. The current keys seal and sign; the previous ones can still open and verify. */
export interface Keyring extends SecretKeys {
  readonly previous: readonly PreviousKeys[];
}

/** A previous master secret, and when it was replaced (null if unknown). */
export interface PreviousSecret {
  readonly secret: Uint8Array;
  readonly replacedAt: number | null;
}

/**
 * Derives the keyring from the master secrets.
 * @param masterSecret at least 32 bytes
 * @param previous previous secrets, in the order in which they are tried
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
    serviceKey: derive('service-private-key/v1'),
    totpSecret: derive('totp-secret/v1'),
    webhookKey: derive('webhook-secrets/v1'),
    ticketSecret: derive('session-ticket/v1'),
    answerSecret: derive('stored-answer/v1'),
    fingerprint: derive('secret-fingerprint/v1'),
  };
}
