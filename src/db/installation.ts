import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';

const row = z.object({ id: z.uuid() });

/**
 * The id of this installation: random, created by the first instance that starts, and shared by all instances on one
 * database. It separates installations that share a Redis, and is not secret.
 */
export async function readInstallationId(pool: Pool): Promise<string> {
  const found = await pool.query('SELECT id FROM installation');
  if (found.rows.length > 0) return row.parse(found.rows[0]).id;
  // If another instance was first, this update changes nothing but makes the statement return that instance's row.
  const created = await pool.query(
    `INSERT INTO installation (id) VALUES (gen_random_uuid())
     ON CONFLICT (is_only) DO UPDATE SET id = installation.id RETURNING id`,
  );
  return row.parse(created.rows[0]).id;
}

/** The same without creating it; null if no instance has started yet. @throws {Error} if the database has no such table */
export async function findInstallationId(pool: Pool): Promise<string | null> {
  const { rows } = await pool.query('SELECT id FROM installation');
  return rows.length === 0 ? null : row.parse(rows[0]).id;
}

const fingerprintRow = z.object({ fingerprint: z.instanceof(Uint8Array).nullable() });

/** The fingerprint of the installation's master secret; null if none is recorded, as with an earlier version. */
export async function readSecretFingerprint(pool: Pool): Promise<Uint8Array | null> {
  const { rows } = await pool.query('SELECT secret_fingerprint AS fingerprint FROM installation');
  return rows.length === 0 ? null : fingerprintRow.parse(rows[0]).fingerprint;
}

/**
 * Records the fingerprint of the master secret. If several instances do so at once, the first one wins.
 * @param replaces the fingerprints that it may replace; `any` if it is known to be the right one
 * @returns true if the installation has it now; false if it has another one
 */
export async function recordSecretFingerprint(
  pool: Pool,
  fingerprint: Uint8Array,
  replaces: readonly Uint8Array[] | 'any',
): Promise<boolean> {
  const found = await readSecretFingerprint(pool);
  // A start on a database that is in use writes nothing.
  if (found !== null && Buffer.from(found).equals(fingerprint)) return true;
  const replaceable = replaces === 'any' ? [] : replaces.map((each) => Buffer.from(each));
  const { rows } = await pool.query(
    `INSERT INTO installation (id, secret_fingerprint) VALUES (gen_random_uuid(), $1::bytea)
     ON CONFLICT (is_only) DO UPDATE SET secret_fingerprint = CASE
       WHEN installation.secret_fingerprint IS NULL OR $2 OR installation.secret_fingerprint = ANY($3::bytea[]) THEN $1
       ELSE installation.secret_fingerprint END
     RETURNING secret_fingerprint AS fingerprint`,
    [Buffer.from(fingerprint), replaces === 'any', replaceable],
  );
  const { fingerprint: recorded } = fingerprintRow.parse(rows[0]);
  return recorded !== null && Buffer.from(recorded).equals(fingerprint);
}

/** True if the database has a column for the fingerprint: commands also read databases that are not migrated yet. */
export async function hasSecretFingerprint(pool: Pool | ClientBase): Promise<boolean> {
  const { rows } = await pool.query(
    `SELECT FROM pg_attribute
     WHERE attrelid = to_regclass('installation') AND attname = 'secret_fingerprint' AND NOT attisdropped`,
  );
  return rows.length > 0;
}
