import type { Pool } from 'pg';
import type { Keyring } from '../../crypto/keyring.ts';
import { MasterSecretError } from '../../crypto/master-secret.ts';
import { readSecretFingerprint, recordSecretFingerprint } from '../../db/installation.ts';

/**
 * Checks that the master secret is the one that the installation uses, and records its fingerprint if none is recorded.
 * Private keys prove the secret, but the first of them is created after the first start. Until then, two instances with
 * two secrets would both start and refuse each other's sessions, and one of them would be unable to open its applications.
 * @param isProved whether it has opened private keys, or was just created
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
      'is used with. Give every instance the same secret. If it was changed on purpose, also give the previous one as ' +
      'SERVICE_SECRET_PREVIOUS. If the previous one is lost, unset SERVICE_SECRET_PREVIOUS and run "latchkey rotate-secret" ' +
      'once, which accepts the current one.',
  );
