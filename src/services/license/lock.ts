import { sha256 } from '../../crypto/hash.ts';
import { Prisma } from '../../db/client.ts';
import { isNotUnderWay } from '../../db/mint-under-way.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { LicenseEffects } from './decide.ts';
import type { LicenseSnapshot } from './snapshot.ts';

/** A license that this transaction has locked. */
export interface LockedLicense extends LicenseSnapshot {
  readonly keyHash: Uint8Array;
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
  const [license] = await transaction.$queryRaw<LockedLicense[]>`
    SELECT id, application_id AS "applicationId", status::text AS status, duration_seconds AS "durationSeconds",
      expires_at AS "expiresAt", hwid, device_hash AS "deviceHash", subscription_tier AS "subscriptionTier",
      key_hash AS "keyHash"
    FROM licenses WHERE (key_hash = ${keyHash} OR id = ${id}::uuid) AND ${Prisma.raw(isNotUnderWay)}
    FOR NO KEY UPDATE`;
  return license ?? null;
}

/** Applies a verdict's effects to a locked license. @returns the updated license */
export async function applyToLocked(
  transaction: Prisma.TransactionClient,
  invalidations: Invalidations,
  license: LockedLicense,
  effects: LicenseEffects,
  now: Date,
): Promise<LockedLicense> {
  const { activate, bindHwid } = effects;
  if (activate === null && bindHwid === null) return license;
  invalidations.license(license.keyHash);
  await transaction.license.update({
    where: { id: license.id },
    data: {
      ...(activate && { status: 'active', activatedAt: now, expiresAt: activate.expiresAt }),
      ...(bindHwid !== null && { hwid: bindHwid, deviceHash: null }),
    },
    select: { id: true },
  });
  return {
    ...license,
    ...(activate && { status: 'active', expiresAt: activate.expiresAt }),
    ...(bindHwid !== null && { hwid: bindHwid, deviceHash: null }),
  };
}
