import { sha256 } from '../../crypto/hash.ts';
import { Prisma } from '../../db/client.ts';
import { isNotUnderWay } from '../../db/mint-under-way.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import { devicesOfLicense, type LicenseSnapshot, readDevices, snapshotColumns } from './snapshot.ts';

/** A license that this transaction has locked. */
export interface LockedLicense extends LicenseSnapshot {
  /** The hashes of its key and of its previous ones, under which it may be cached. */
  readonly keyHashes: readonly Uint8Array[];
  readonly keyPrefix: string;
  readonly hwid: string | null;
  readonly deviceHash: string | null;
  readonly lastIp: string | null;
  readonly activatedAt: Date | null;
  readonly moveCount: number | null;
  readonly movePeriodSeconds: number | null;
  readonly cooldownSeconds: number;
  /** When customers moved devices, in milliseconds since the Unix epoch; the newest, oldest first. */
  readonly movedAt: readonly number[];
  readonly suspensionReason: string | null;
  readonly policyId: string | null;
  /** The end user who may change its devices. */
  readonly ownerUserId: string | null;
  readonly metadata: unknown;
  readonly tags: readonly string[];
}

/** A license by its key or by its id. */
export type LicenseReference = { readonly licenseKey: string } | { readonly licenseId: string };

/**
 * Reads and locks a license until the transaction ends, so that a verdict on it is still correct when its effects are
 * written. Null if it does not exist.
 */
export async function lockLicense(
  transaction: Prisma.TransactionClient,
  reference: LicenseReference,
): Promise<LockedLicense | null> {
  const [keyHash, id] =
    'licenseKey' in reference ? [sha256(reference.licenseKey), null] : [null, reference.licenseId];
  const lock = () => transaction.$queryRaw<unknown[]>`
    SELECT FROM licenses
    WHERE (key_hash = ${keyHash} OR id = ${id}::uuid
        OR id = (SELECT license_id FROM previous_license_keys WHERE key_hash = ${keyHash}))
      AND ${Prisma.raw(isNotUnderWay)}
    FOR NO KEY UPDATE`;
  // If it waited for a rotation, the key is a previous one now, which only a statement that begins afterwards sees.
  const isLocked = (await lock()).length > 0 || (keyHash !== null && (await lock()).length > 0);
  if (!isLocked) return null;
  const [license] = await readLocked(transaction, { keyHash, ids: id === null ? [] : [id] });
  return license ?? null;
}

interface LockedRow extends Omit<LockedLicense, 'keyHashes' | 'devices'> {
  readonly keyHash: Uint8Array;
  readonly previousKeyHashes: readonly string[];
  readonly devices: unknown;
}

/**
 * Reads locked licenses with their devices and previous keys. A statement of its own, after the one that locks: it sees
 * what was committed while that one waited.
 */
export async function readLocked(
  transaction: Prisma.TransactionClient,
  { keyHash = null, ids }: { readonly keyHash?: Uint8Array | null; readonly ids: readonly string[] },
): Promise<LockedLicense[]> {
  const rows = await transaction.$queryRaw<LockedRow[]>`
    SELECT ${Prisma.raw(snapshotColumns)}, ${Prisma.raw(devicesOfLicense)} AS devices,
      licenses.key_hash AS "keyHash", licenses.key_prefix AS "keyPrefix", licenses.hwid,
      licenses.device_hash AS "deviceHash", licenses.last_ip AS "lastIp", licenses.activated_at AS "activatedAt",
      licenses.move_count AS "moveCount", licenses.move_period_seconds AS "movePeriodSeconds",
      licenses.cooldown_seconds AS "cooldownSeconds",
      ARRAY(SELECT extract(epoch FROM moved) * 1000 FROM unnest(licenses.moved_at) AS moved)::float8[] AS "movedAt",
      licenses.suspension_reason AS "suspensionReason", licenses.policy_id AS "policyId", licenses.owner_user_id AS "ownerUserId", licenses.metadata,
      licenses.tags,
      ARRAY(SELECT encode(key_hash, 'hex') FROM previous_license_keys WHERE license_id = licenses.id)
        AS "previousKeyHashes",
      (SELECT valid_until FROM previous_license_keys
        WHERE license_id = licenses.id AND previous_license_keys.key_hash = ${keyHash}) AS "keyValidUntil"
    FROM licenses
    WHERE id = ANY(${ids}::uuid[]) OR licenses.key_hash = ${keyHash}
      OR id = (SELECT license_id FROM previous_license_keys WHERE key_hash = ${keyHash})
    ORDER BY "keyValidUntil" NULLS LAST`;
  return rows.map(({ keyHash, previousKeyHashes, devices, ...license }) => ({
    ...license,
    devices: readDevices(devices),
    keyHashes: [keyHash, ...previousKeyHashes.map((hex) => Buffer.from(hex, 'hex'))],
  }));
}

/** Invalidates what is cached of a locked license. */
export function invalidateLicense(invalidations: Invalidations, { keyHashes }: LockedLicense): void {
  for (const keyHash of keyHashes) invalidations.license(keyHash);
}
