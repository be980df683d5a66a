import type { Pool } from 'pg';
import type { Keyring } from '../../crypto/keyring.ts';
import { openPrivateKey } from '../../crypto/sealed-private-key.ts';

/**
 * Opens the private keys of the newest and the oldest application, if there is any: at start, so that a wrong master
 * secret is an error there and not a failed validation for every customer. A rotation goes from the newest to the
 * oldest, so that one that was cut short is seen by the oldest.
 * @returns true if there was at least one key, which proves the secret
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
