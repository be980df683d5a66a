import { openAesGcm, sealAesGcm } from './aead.ts';
import type { Keyring, SecretKeys } from './keyring.ts';

const ivLength = 12;
const tagLength = 16;

/** None of the configured master secrets decrypts this private key, or the row was altered. */
export class PrivateKeyUnreadableError extends Error {
  override readonly name = 'PrivateKeyUnreadableError';

  constructor(applicationId: string) {
    super(
      `The private key of application ${applicationId} cannot be decrypted: it was encrypted with another ` +
        'SERVICE_SECRET. If the secret was changed, set SERVICE_SECRET_PREVIOUS to the old one and run ' +
        '"latchkey rotate-secret"; otherwise restore the secret that belongs to this database from its backup.',
    );
  }
}

/** An application's Ed25519 seed, and whether it was encrypted with the current master secret. */
export interface OpenedPrivateKey {
  readonly seed: Uint8Array;
  readonly isCurrent: boolean;
}

/**
 * Encrypts an application's Ed25519 seed for the database, with AES-256-GCM. The application id is the associated data, so
 * that an attacker with access to the database cannot move a key to another application.
 * @returns `IV ‖ ciphertext ‖ tag`
 */
export function sealPrivateKey(
  keyring: Keyring,
  applicationId: string,
  seed: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const { iv, ciphertext, tag } = sealAesGcm(keyring.applicationKey, seed, Buffer.from(applicationId));
  return new Uint8Array(Buffer.concat([iv, ciphertext, tag]));
}

/** Decrypts an application's Ed25519 seed. @throws {PrivateKeyUnreadableError} */
export function openPrivateKey(keyring: Keyring, applicationId: string, sealed: Uint8Array): Uint8Array {
  const opened = tryPrivateKey(keyring, applicationId, sealed);
  if (opened === null) throw new PrivateKeyUnreadableError(applicationId);
  return opened.seed;
}

/** Decrypts a seed with the current or a previous master secret; null if none of them fits. */
export function tryPrivateKey(
  keyring: Keyring,
  applicationId: string,
  sealed: Uint8Array,
): OpenedPrivateKey | null {
  const seed = open(keyring, applicationId, sealed);
  if (seed !== null) return { seed, isCurrent: true };
  for (const keys of keyring.previous) {
    const earlier = open(keys, applicationId, sealed);
    if (earlier !== null) return { seed: earlier, isCurrent: false };
  }
  return null;
}

const open = (keys: SecretKeys, applicationId: string, sealed: Uint8Array): Uint8Array | null =>
  openAesGcm(
    keys.applicationKey,
    {
      iv: sealed.subarray(0, ivLength),
      ciphertext: sealed.subarray(ivLength, -tagLength),
      tag: sealed.subarray(-tagLength),
    },
    Buffer.from(applicationId),
  );
