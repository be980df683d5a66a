import type { Keyring, SecretKeys } from './keyring.ts';
import { openRecord, sealRecord } from './sealed-record.ts';

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

/** Encrypts an application's Ed25519 seed for the database. */
export const sealPrivateKey = (
  keyring: Keyring,
  applicationId: string,
  seed: Uint8Array,
): Uint8Array<ArrayBuffer> => sealRecord(keyring.applicationKey, Buffer.from(applicationId), seed);

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
  openRecord(keys.applicationKey, Buffer.from(applicationId), sealed);
