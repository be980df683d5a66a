import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { createKeyring, type Keyring } from '../../crypto/keyring.ts';
import {
  createMasterSecret,
  environmentSecrets,
  MasterSecretError,
  type MasterSecrets,
  readStoredSecrets,
  secretPath,
  storedSecrets,
} from '../../crypto/master-secret.ts';
import type { DatabaseAddress } from '../../db/address.ts';
import { checkApplicationKeys } from './check-keys.ts';
import { requireOwnSecret } from './own-secret.ts';

/** Configuration of the master secret. */
export interface SecretSettings {
  readonly database: DatabaseAddress;
  /** Null if the secret is in the data directory. */
  readonly serviceSecret: string | null;
  readonly previousSecret: string | null;
}

/**
 * Opens the keyring of an open database and checks that it decrypts the existing private keys. Creates the secret of an
 * embedded database without accounts; the database's lock, which the caller holds, prevents a second process from creating
 * another one.
 * @throws {MasterSecretError | PrivateKeyUnreadableError}
 */
export async function openKeyring(settings: SecretSettings, pool: Pool): Promise<Keyring> {
  const existing = findKeyring(settings);
  const keyring = existing ?? (await makeKeyring(settings, pool));
  const isProved = await checkApplicationKeys(pool, keyring);
  await requireOwnSecret(pool, keyring, isProved || existing === null);
  return keyring;
}

/**
 * The keyring of the master secrets in the environment or the data directory; null if the data directory has none.
 * @throws {MasterSecretError}
 */
export function findKeyring(settings: SecretSettings): Keyring | null {
  const { database, serviceSecret, previousSecret } = settings;
  if (serviceSecret !== null) return keyringOf(environmentSecrets(serviceSecret, previousSecret));
  switch (database.kind) {
    case 'memory':
      return createKeyring(randomBytes(32));
    case 'server':
      throw new MasterSecretError(
        "SERVICE_SECRET is not set, but DATABASE_URL is: set it to the service's secret.",
      );
    case 'embedded': {
      const stored = readStoredSecrets(database.directory);
      return stored === null ? null : keyringOf(storedSecrets(stored, previousSecret));
    }
  }
}

const keyringOf = ({ current, previous }: MasterSecrets): Keyring => createKeyring(current, previous);

async function makeKeyring(settings: SecretSettings, pool: Pool): Promise<Keyring> {
  const { database } = settings;
  if (database.kind !== 'embedded') throw new MasterSecretError('There is no master secret.');
  const { rows } = await pool.query<{ used: boolean }>('SELECT EXISTS (SELECT 1 FROM developers) AS used');
  if (rows[0]?.used !== false) {
    throw new MasterSecretError(
      `${secretPath(database.directory)} is missing, but the database in the same directory has accounts: their ` +
        "applications' private keys are encrypted with that secret. Restore the file from a backup, with mode 600, or " +
        'set SERVICE_SECRET if the service was run with it. No new secret has been created.',
    );
  }
  createMasterSecret(database.directory);
  const created = findKeyring(settings);
  if (created === null)
    throw new MasterSecretError(`${secretPath(database.directory)} could not be created.`);
  return created;
}
