import { openAesGcm, sealAesGcm } from './aead.ts';
import type { Keyring, SecretKeys } from './keyring.ts';

const ivLength = 12;
const tagLength = 16;

/** No master secret at hand is the one that this private key was encrypted under, or the row was altered. */
export class PrivateKeyUnreadableError extends Error {
  override readonly name = 'PrivateKeyUnreadableError';

  constructor(applicationId: string) {
    super(
      `The private key of application ${applicationId} cannot be opened: SERVICE_SECRET is not the one it was ` +
        'encrypted under. Where the secret has been changed, give the service the one before it as ' +
        'SERVICE_SECRET_PREVIOUS, and run "latchkey rotate-secret"; otherwise restore the secret that was kept with ' +
        "the database's backup.",
    );
  }
}

/** An application's Ed25519 seed, and whether it was encrypted under the current master secret. */
export interface OpenedPrivateKey {
  readonly seed: Uint8Array;
  readonly isCurrent: boolean;
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
  const opened = tryPrivateKey(keyring, applicationId, sealed);
  if (opened === null) throw new PrivateKeyUnreadableError(applicationId);
  return opened.seed;
}

/** The seed under whichever master secret it was encrypted; null where under none of the keyring's. */
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
