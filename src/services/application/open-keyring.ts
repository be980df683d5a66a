import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { createKeyring, type Keyring } from '../../crypto/keyring.ts';
import {
  createMasterSecret,
  givenSecrets,
  MasterSecretError,
  type MasterSecrets,
  readStoredSecrets,
  secretPath,
  storedSecrets,
} from '../../crypto/master-secret.ts';
import type { DatabaseAddress } from '../../db/address.ts';
import { checkApplicationKeys } from './check-keys.ts';
import { requireOwnSecret } from './own-secret.ts';

/** What the configuration says of the master secret. */
export interface SecretSettings {
  readonly database: DatabaseAddress;
  /** Null: it is in the data directory. */
  readonly serviceSecret: string | null;
  readonly previousSecret: string | null;
}

/**
 * The keyring of an open database, after it has been seen to open what is there. An embedded database that nobody has
 * an account in yet gets its secret here; its lock, which the caller holds, keeps a second process from making another.
 * @throws {MasterSecretError | PrivateKeyUnreadableError}
 */
export async function openKeyring(settings: SecretSettings, pool: Pool): Promise<Keyring> {
  const found = findMasterSecrets(settings);
  const { current, previous } = found ?? (await makeMasterSecret(settings, pool));
  const keyring = createKeyring(current, previous);
  const isProved = await checkApplicationKeys(pool, keyring);
  await requireOwnSecret(pool, keyring, isProved || found === null);
  return keyring;
}

/**
 * The master secrets as they are given or stored; null where a data directory has none.
 * @throws {MasterSecretError}
 */
export function findMasterSecrets(settings: SecretSettings): MasterSecrets | null {
  const { database, serviceSecret, previousSecret } = settings;
  if (serviceSecret !== null) return givenSecrets(serviceSecret, previousSecret);
  switch (database.kind) {
    case 'memory':
      return { current: randomBytes(32), previous: [] };
    case 'server':
      throw new MasterSecretError(
        'SERVICE_SECRET is not set, and DATABASE_URL is: set it to what the service has.',
      );
    case 'embedded': {
      const stored = readStoredSecrets(database.directory);
      return stored === null ? null : storedSecrets(stored, previousSecret);
    }
  }
}

async function makeMasterSecret(settings: SecretSettings, pool: Pool): Promise<MasterSecrets> {
  const { database } = settings;
  if (database.kind !== 'embedded') throw new MasterSecretError('There is no master secret.');
  const { rows } = await pool.query<{ used: boolean }>('SELECT EXISTS (SELECT 1 FROM developers) AS used');
  if (rows[0]?.used !== false) {
    throw new MasterSecretError(
      `${secretPath(database.directory)} is missing, and the database beside it has been used: the private keys of its ` +
        'applications are encrypted under that secret. Restore the file from a backup, with mode 600; or, where ' +
        'the service was run with SERVICE_SECRET, set that. No other secret has been made.',
    );
  }
  createMasterSecret(database.directory);
  const made = findMasterSecrets(settings);
  if (made === null) throw new MasterSecretError(`${secretPath(database.directory)} could not be made.`);
  return made;
}
