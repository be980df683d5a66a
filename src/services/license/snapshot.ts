import DataLoader from 'dataloader';
import type { Pool } from 'pg';
import type { Sha256 } from '../../crypto/hash.ts';
import { isNotUnderWay } from '../../db/mint-under-way.ts';
import { licenseCacheKey } from '../changes/change.ts';
import type { LicenseFacts } from './decide.ts';

/** What validating needs of a license, as the cache keeps it. */
export interface LicenseSnapshot extends LicenseFacts {
  readonly id: string;
  readonly subscriptionTier: number;
}

/** The license with this key, of whichever application; null when there is none. */
export type LoadLicenseSnapshot = (keyHash: Sha256) => Promise<LicenseSnapshot | null>;

/** Licenses that one statement looks up at most. */
const largestBatch = 500;

/**
 * Looks licenses up, those that one turn of the event loop asks for in one statement: where many programs start at
 * once, each statement costs more than what it finds. It is sent after all who share it have asked, so that each sees
 * what was committed before, and nobody joins one that is under way.
 */
export function createLicenseLoader(pool: Pool): LoadLicenseSnapshot {
  const loader = new DataLoader<Sha256, LicenseSnapshot | null>(
    async (keyHashes) => {
      const found = await findByKeys(pool, keyHashes);
      return keyHashes.map((keyHash) => found.get(licenseCacheKey(keyHash)) ?? null);
    },
    { cache: false, maxBatchSize: largestBatch, batchScheduleFn: (send) => setImmediate(send) },
  );
  return (keyHash) => loader.load(keyHash);
}

const columns = `id, application_id AS "applicationId", status::text AS status, duration_seconds AS "durationSeconds",
  expires_at AS "expiresAt", hwid, subscription_tier AS "subscriptionTier"`;

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
