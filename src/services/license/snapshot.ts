import DataLoader from 'dataloader';
import type { Pool } from 'pg';
import type { Sha256 } from '../../crypto/hash.ts';
import { isNotUnderWay } from '../../db/mint-under-way.ts';
import { licenseCacheKey } from '../changes/change.ts';
import type { LicenseFacts } from './decide.ts';

/** A license's data for validation, as cached. */
export interface LicenseSnapshot extends LicenseFacts {
  readonly id: string;
  readonly subscriptionTier: number;
}

/** Loads a license by its key's hash, from any application; null if it does not exist. */
export type LoadLicenseSnapshot = (keyHash: Sha256) => Promise<LicenseSnapshot | null>;

/** Maximum number of licenses per statement. */
const maxBatchSize = 500;

/**
 * Creates a loader that batches all look-ups of one event loop turn into one statement: when many programs start at once,
 * statements cost more than the rows they return. A statement is sent only after all its look-ups were requested, and none
 * joins it later. So each look-up sees everything that was committed before it was requested.
 */
export function createLicenseLoader(pool: Pool): LoadLicenseSnapshot {
  const loader = new DataLoader<Sha256, LicenseSnapshot | null>(
    async (keyHashes) => {
      const found = await findByKeys(pool, keyHashes);
      return keyHashes.map((keyHash) => found.get(licenseCacheKey(keyHash)) ?? null);
    },
    { cache: false, maxBatchSize, batchScheduleFn: (send) => setImmediate(send) },
  );
  return (keyHash) => loader.load(keyHash);
}

const columns = `id, application_id AS "applicationId", status::text AS status, duration_seconds AS "durationSeconds",
  expires_at AS "expiresAt", hwid, device_hash AS "deviceHash", subscription_tier AS "subscriptionTier"`;

async function findByKeys(
  pool: Pool,
  keyHashes: readonly Sha256[],
): Promise<ReadonlyMap<string, LicenseSnapshot>> {
  const { rows } = await pool.query<LicenseSnapshot & { readonly keyHash: Buffer }>(
    `SELECT key_hash AS "keyHash", ${columns} FROM licenses
     WHERE key_hash = ANY($1::bytea[]) AND ${isNotUnderWay}`,
    [keyHashes.map((keyHash) => Buffer.from(keyHash))],
  );
  return new Map(rows.map(({ keyHash, ...license }) => [licenseCacheKey(keyHash), license]));
}
