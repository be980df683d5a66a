import type { Pool } from 'pg';
import type { Sha256 } from '../../crypto/hash.ts';
import type { LicenseFacts } from './decide.ts';

/** What validating needs of a license, as the cache keeps it. */
export interface LicenseSnapshot extends LicenseFacts {
  readonly id: string;
  readonly subscriptionTier: number;
}

/** Key of the license cache. */
export const licenseCacheKey = (keyHash: Uint8Array): string => Buffer.from(keyHash).toString('base64');

const columns = `id, application_id AS "applicationId", status::text AS status, duration_seconds AS "durationSeconds",
  expires_at AS "expiresAt", hwid, subscription_tier AS "subscriptionTier"`;

/** The license with this key, of whichever application; null when there is none. */
export async function loadLicenseSnapshot(pool: Pool, keyHash: Sha256): Promise<LicenseSnapshot | null> {
  const { rows } = await pool.query<LicenseSnapshot>(`SELECT ${columns} FROM licenses WHERE key_hash = $1`, [
    Buffer.from(keyHash),
  ]);
  return rows[0] ?? null;
}
