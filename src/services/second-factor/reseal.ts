import type { Pool } from 'pg';
import type { Keyring } from '../../crypto/keyring.ts';
import { openTotpSecret, sealTotpSecret } from '../../crypto/sealed-totp-secret.ts';

/** Counts of TOTP secrets by the master secret that they are encrypted with. */
export interface TotpSecretCounts {
  readonly current: number;
  readonly previous: number;
  readonly unreadable: number;
}

interface Row {
  readonly id: string;
  readonly sealed: Buffer;
}

const batchSize = 500;
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Whether the database has the column: commands also read databases that are not migrated yet. */
async function hasTotpSecrets(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ made: boolean }>(
    `SELECT EXISTS (
       SELECT FROM pg_attribute
       WHERE attrelid = to_regclass('developers') AND attname = 'totp_secret_encrypted' AND NOT attisdropped
     ) AS made`,
  );
  return rows[0]?.made === true;
}

async function* batchesOf(pool: Pool): AsyncGenerator<readonly Row[]> {
  for (let before = lastId; ; ) {
    const { rows } = await pool.query<Row>(
      `SELECT id, totp_secret_encrypted AS sealed FROM developers
       WHERE totp_secret_encrypted IS NOT NULL AND id < $1 ORDER BY id DESC LIMIT $2`,
      [before, batchSize],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    before = last.id;
  }
}

/** Counts the secrets without changing any. */
export async function countTotpSecrets(pool: Pool, keyring: Keyring): Promise<TotpSecretCounts> {
  const counts = { current: 0, previous: 0, unreadable: 0 };
  if (!(await hasTotpSecrets(pool))) return counts;
  for await (const rows of batchesOf(pool)) {
    for (const { id, sealed } of rows) {
      const opened = openTotpSecret(keyring, id, sealed);
      if (opened === null) counts.unreadable += 1;
      else if (opened.isCurrent) counts.current += 1;
      else counts.previous += 1;
    }
  }
  return counts;
}

/**
 * Re-encrypts the secrets of previous master secrets with the current one. Each statement changes a row only if it is as it
 * was read, so this is safe to repeat, and to run concurrently.
 */
export async function resealTotpSecrets(pool: Pool, keyring: Keyring): Promise<void> {
  if (!(await hasTotpSecrets(pool))) return;
  for await (const rows of batchesOf(pool)) {
    for (const { id, sealed } of rows) {
      const opened = openTotpSecret(keyring, id, sealed);
      if (opened === null || opened.isCurrent) continue;
      await pool.query(
        'UPDATE developers SET totp_secret_encrypted = $3 WHERE id = $1 AND totp_secret_encrypted = $2',
        [id, sealed, Buffer.from(sealTotpSecret(keyring, id, opened.secret))],
      );
    }
  }
}
