import type { Pool } from 'pg';
import type { Keyring } from '../../crypto/keyring.ts';
import { openServiceKey, sealServiceKey } from '../../crypto/sealed-service-key.ts';
import { readServiceKeys } from './rows.ts';

/** Counts of service keys by the master secret that they are encrypted with. */
export interface ServiceKeyCounts {
  readonly current: number;
  readonly previous: number;
  readonly unreadable: number;
  /** Age of the newest key in seconds; null without any key. */
  readonly newestAge: number | null;
}

/** Whether the database has the table: commands also read databases that are not migrated yet. */
async function hasServiceKeys(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ made: boolean }>(
    `SELECT to_regclass('service_keys') IS NOT NULL AS made`,
  );
  return rows[0]?.made === true;
}

/** Re-encrypts the keys of previous master secrets with the current one. Safe to repeat, and to run concurrently. */
export async function resealServiceKeys(pool: Pool, keyring: Keyring): Promise<void> {
  if (!(await hasServiceKeys(pool))) return;
  const { rows } = await readServiceKeys(pool);
  for (const { keyId, publicKey, privateKeyEncrypted } of rows) {
    const opened = openServiceKey(keyring, { keyId, publicKey, privateKeyEncrypted });
    if (opened === null || opened.isCurrent) continue;
    const sealed = sealServiceKey(keyring, keyId, { publicKey, privateKey: opened.privateKey });
    await pool.query(
      'UPDATE service_keys SET private_key_encrypted = $3 WHERE key_id = $1 AND private_key_encrypted = $2',
      [keyId, Buffer.from(privateKeyEncrypted), Buffer.from(sealed)],
    );
  }
}

/** Counts the keys without changing any; null if the database is of an earlier version. */
export async function countServiceKeys(pool: Pool, keyring: Keyring): Promise<ServiceKeyCounts | null> {
  if (!(await hasServiceKeys(pool))) return null;
  const { rows } = await readServiceKeys(pool);
  const counts = { current: 0, previous: 0, unreadable: 0 };
  for (const row of rows) {
    const opened = openServiceKey(keyring, row);
    if (opened === null) counts.unreadable += 1;
    else if (opened.isCurrent) counts.current += 1;
    else counts.previous += 1;
  }
  return { ...counts, newestAge: rows[0]?.age ?? null };
}
