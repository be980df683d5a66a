import type { Pool } from 'pg';
import type { SealedServiceKey } from '../../crypto/sealed-service-key.ts';

/** A row of `service_keys`. */
export interface ServiceKeyRow extends SealedServiceKey {
  /** Seconds since the Unix epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly replayEpochSha256: Uint8Array;
  /**
   * Seconds since it was created, by the clock of the database: instances have other clocks. Negative if that clock was set
   * back since.
   */
  readonly age: number;
}

/** The new row of a key. */
export type NewServiceKey = Omit<ServiceKeyRow, 'age'>;

export interface ServiceKeyRows {
  /** Newest first. */
  readonly rows: readonly ServiceKeyRow[];
  /** The clock of the database, in seconds since the Unix epoch. */
  readonly now: number;
}

/** Reads all keys. */
export async function readServiceKeys(pool: Pool): Promise<ServiceKeyRows> {
  const { rows } = await pool.query<{ now: string; keys: null } | (ServiceKeyRow & { now: string })>(
    `SELECT floor(extract(epoch FROM clock_timestamp()))::bigint AS now, key_id AS "keyId", public_key AS "publicKey",
       private_key_encrypted AS "privateKeyEncrypted", extract(epoch FROM not_before)::float8 AS "notBefore",
       extract(epoch FROM not_after)::float8 AS "notAfter", replay_epoch_sha256 AS "replayEpochSha256",
       extract(epoch FROM clock_timestamp() - created_at)::float8 AS age
     FROM (SELECT) AS always LEFT JOIN service_keys ON true ORDER BY not_before DESC NULLS LAST`,
  );
  const [first] = rows;
  if (first === undefined) throw new Error('The database did not tell its time');
  const found = rows.flatMap((row) => ('keyId' in row && row.keyId !== null ? [row] : []));
  return { rows: found, now: Number(first.now) };
}

/**
 * Adds a key.
 * @returns false if the id is taken: another instance, which has read the same rows, has added its key first
 */
export async function insertServiceKey(pool: Pool, key: NewServiceKey): Promise<boolean> {
  const { rowCount } = await pool.query(
    `INSERT INTO service_keys
       (key_id, public_key, private_key_encrypted, not_before, not_after, replay_epoch_sha256)
     VALUES ($1, $2, $3, to_timestamp($4), to_timestamp($5), $6) ON CONFLICT (key_id) DO NOTHING`,
    [
      key.keyId,
      Buffer.from(key.publicKey),
      Buffer.from(key.privateKeyEncrypted),
      key.notBefore,
      key.notAfter,
      Buffer.from(key.replayEpochSha256),
    ],
  );
  return rowCount === 1;
}

/** Destroys keys that are older than `maxAge` seconds, and all but the newest `maxKeys`. */
export async function destroyServiceKeys(
  pool: Pool,
  { maxAge, maxKeys }: { readonly maxAge: number; readonly maxKeys: number },
): Promise<void> {
  await pool.query(
    `DELETE FROM service_keys WHERE created_at <= clock_timestamp() - make_interval(secs => $1)
       OR key_id IN (SELECT key_id FROM service_keys ORDER BY not_before DESC OFFSET $2)`,
    [maxAge, maxKeys],
  );
}

/** Dates keys from the future to now, so that they are replaced and destroyed in time although the clock was set back. */
export async function dateServiceKeysBack(pool: Pool, tolerance: number): Promise<void> {
  await pool.query(
    `UPDATE service_keys SET created_at = clock_timestamp()
     WHERE created_at > clock_timestamp() + make_interval(secs => $1)`,
    [tolerance],
  );
}
