import type { Pool } from 'pg';
import type { Keyring } from '../../crypto/keyring.ts';
import { openPrivateKey } from '../../crypto/sealed-private-key.ts';

/**
 * Decrypts the private keys of the newest and the oldest application at startup, so that a wrong master secret is a
 * startup error instead of failed validations for every customer. Rotation proceeds from the newest to the oldest
 * application, so the oldest key reveals an incomplete rotation.
 * @returns true if there was at least one key, which proves that the secret is correct
 * @throws {PrivateKeyUnreadableError}
 */
export async function checkApplicationKeys(pool: Pool, keyring: Keyring): Promise<boolean> {
  const { rows } = await pool.query<{ id: string; sealed: Buffer }>(
    `(SELECT id, private_key_encrypted AS sealed FROM applications ORDER BY id DESC LIMIT 1)
     UNION ALL
     (SELECT id, private_key_encrypted AS sealed FROM applications ORDER BY id LIMIT 1)`,
  );
  for (const { id, sealed } of rows) openPrivateKey(keyring, id, sealed);
  return rows.length > 0;
}
