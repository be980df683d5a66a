import { openAesGcm, sealAesGcm } from './aead.ts';
import type { Keyring } from './keyring.ts';

const ivLength = 12;
const tagLength = 16;

/** The master secret is not the one that this private key was encrypted under, or the row was altered. */
export class PrivateKeyUnreadableError extends Error {
  override readonly name = 'PrivateKeyUnreadableError';
}

/**
 * Encrypts an application's Ed25519 seed for the database: `IV ‖ ciphertext ‖ tag` under AES-256-GCM, the
 * application id as associated data so that a row's key cannot be moved to another application.
 */
export function sealPrivateKey(
  keyring: Keyring,
  applicationId: string,
  seed: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const { iv, ciphertext, tag } = sealAesGcm(keyring.applicationKey, seed, Buffer.from(applicationId));
  return new Uint8Array(Buffer.concat([iv, ciphertext, tag]));
}

/** @throws {PrivateKeyUnreadableError} */
export function openPrivateKey(keyring: Keyring, applicationId: string, sealed: Uint8Array): Uint8Array {
  const seed = openAesGcm(
    keyring.applicationKey,
    {
      iv: sealed.subarray(0, ivLength),
      ciphertext: sealed.subarray(ivLength, -tagLength),
      tag: sealed.subarray(-tagLength),
    },
    Buffer.from(applicationId),
  );
  if (seed === null) {
    throw new PrivateKeyUnreadableError(
      `The private key of application ${applicationId} cannot be opened: SERVICE_SECRET is not the one it was encrypted under.`,
    );
  }
  return seed;
}
