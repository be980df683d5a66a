import type { Pool } from 'pg';
import type { Keyring } from '../../crypto/keyring.ts';
import { MasterSecretError } from '../../crypto/master-secret.ts';
import { readSecretFingerprint, recordSecretFingerprint } from '../../db/installation.ts';

/**
 * Checks that the master secret is the one that the installation uses, and records its fingerprint if none is recorded.
 * Private keys prove the secret too, but the first one is created only after the first start. Without this check, two
 * instances with different secrets could both start, would refuse each other's sessions, and one of them could not decrypt
 * its applications' keys later.
 * @param isProved whether the secret has decrypted private keys, or was just created
 * @throws {MasterSecretError}
 */
export async function requireOwnSecret(
  pool: Pool,
  { fingerprint, previous }: Keyring,
  isProved: boolean,
): Promise<void> {
  const before = previous.map((keys) => keys.fingerprint);
  if (!(await recordSecretFingerprint(pool, fingerprint, isProved ? 'any' : before))) throw anotherSecret();
}

/** True if a fingerprint is recorded and none of these secrets has it. */
export async function isForeignSecret(pool: Pool, { fingerprint, previous }: Keyring): Promise<boolean> {
  const noted = await readSecretFingerprint(pool);
  if (noted === null) return false;
  const ours = [fingerprint, ...previous.map((keys) => keys.fingerprint)];
  return !ours.some((each) => Buffer.from(each).equals(noted));
}

export const anotherSecret = (): MasterSecretError =>
  new MasterSecretError(
    'The master secret here (SERVICE_SECRET, or the file service-secret in DATA_DIR) is not the one that this database ' +
      'is used with. Use the same secret on every instance. If it was changed on purpose, set SERVICE_SECRET_PREVIOUS to ' +
      'the previous one. If that one is lost, unset SERVICE_SECRET_PREVIOUS and run "latchkey rotate-secret" once, which ' +
      'accepts the current one.',
  );
