import DataLoader from 'dataloader';
import type { Pool } from 'pg';
import { z } from 'zod';
import type { Sha256 } from '../../crypto/hash.ts';
import { instant } from '../../db/from-json.ts';
import { isNotUnderWay } from '../../db/mint-under-way.ts';
import { licenseCacheKey } from '../changes/change.ts';
import type { LicenseFacts } from './decide.ts';
import type { Entitlements, LicenseMetadata } from './entitlements.ts';
import type { LicenseDevice } from './license-devices.ts';

/** A license's data for validation, as cached. */
export interface LicenseSnapshot extends LicenseFacts {
  readonly id: string;
  readonly subscriptionTier: number;
  readonly deviceReleases: number;
  readonly leaseSeconds: number | null;
  /** By code; inside the signed answers. */
  readonly entitlements: Entitlements;
  /** The part of the metadata that is inside the signed answers. */
  readonly clientMetadata: LicenseMetadata['client'];
}

/** Loads a license by the hash of its key or of a previous one, from any application; null if it does not exist. */
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

/** The columns of a snapshot, without its devices. */
export const snapshotColumns = `licenses.id, licenses.application_id AS "applicationId", licenses.status::text AS status,
  licenses.duration_seconds AS "durationSeconds", licenses.expires_at AS "expiresAt",
  licenses.grace_seconds AS "graceSeconds", licenses.suspended_at AS "suspendedAt",
  licenses.clock_stopped_at AS "clockStoppedAt", licenses.subscription_tier AS "subscriptionTier",
  licenses.device_limit AS "deviceLimit", licenses.device_releases AS "deviceReleases",
  licenses.self_service::text AS "selfService", licenses.release_idle_after_seconds AS "releaseIdleAfterSeconds",
  licenses.lease_seconds AS "leaseSeconds", licenses.entitlements,
  coalesce(licenses.metadata -> 'client', '{}') AS "clientMetadata"`;

/** The devices of a license that a verdict depends on, as JSON, oldest first. */
export const devicesOfLicense = `(
  SELECT coalesce(json_agg(json_build_object('id', devices.id, 'hwid', devices.hwid, 'deviceHash', devices.device_hash,
    'lastSeenAt', devices.last_seen_at, 'releasedAt', devices.released_at) ORDER BY devices.id), '[]')
  FROM devices WHERE devices.license_id = licenses.id AND (devices.released_at IS NULL OR NOT devices.may_return))`;

const at = z.string().transform(instant);
const devicesFromJson = z.array(
  z.object({
    id: z.string(),
    hwid: z.string().nullable(),
    deviceHash: z.string().nullable(),
    lastSeenAt: at,
    releasedAt: at.nullable(),
  }),
);

/** Parses the value of `devicesOfLicense`. */
export const readDevices = (value: unknown): readonly LicenseDevice[] => devicesFromJson.parse(value);

type Row = Omit<LicenseSnapshot, 'devices'> & { readonly keyHash: Buffer; readonly devices: unknown };

/** Reads licenses with their devices. `asked` is SQL for their ids, with the key that names each and its end. */
async function findAsked(pool: Pool, asked: string, value: unknown) {
  const { rows } = await pool.query<Row>(
    `WITH asked AS (${asked})
     SELECT asked.key_hash AS "keyHash", asked.valid_until AS "keyValidUntil", ${snapshotColumns},
       ${devicesOfLicense} AS devices
     FROM asked JOIN licenses ON licenses.id = asked.id
     ORDER BY asked.valid_until NULLS FIRST`,
    [value],
  );
  return rows.map(({ keyHash, devices, ...license }): readonly [Buffer, LicenseSnapshot] => [
    keyHash,
    { ...license, devices: readDevices(devices) },
  ]);
}

const byKeys = `
  SELECT licenses.id, key_hash, NULL::timestamptz AS valid_until FROM licenses
  WHERE key_hash = ANY($1::bytea[]) AND ${isNotUnderWay}
  UNION ALL
  SELECT license_id, key_hash, valid_until FROM previous_license_keys WHERE key_hash = ANY($1::bytea[])`;

const byId = `
  SELECT licenses.id, key_hash, NULL::timestamptz AS valid_until FROM licenses
  WHERE licenses.id = $1 AND ${isNotUnderWay}`;

async function findByKeys(
  pool: Pool,
  keyHashes: readonly Sha256[],
): Promise<ReadonlyMap<string, LicenseSnapshot>> {
  const found = await findAsked(
    pool,
    byKeys,
    keyHashes.map((keyHash) => Buffer.from(keyHash)),
  );
  return new Map(found.map(([keyHash, license]) => [licenseCacheKey(keyHash), license]));
}

/** The license of a key, not from a cache; null if there is none. */
export async function findLicenseByKey(pool: Pool, keyHash: Sha256): Promise<LicenseSnapshot | null> {
  return (await findByKeys(pool, [keyHash])).get(licenseCacheKey(keyHash)) ?? null;
}

/** The license of an id, not from a cache; null if there is none. */
export async function findLicenseById(pool: Pool, id: string): Promise<LicenseSnapshot | null> {
  const [found] = await findAsked(pool, byId, id);
  return found?.[1] ?? null;
}
