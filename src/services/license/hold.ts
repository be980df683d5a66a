import { sha256 } from '../../crypto/hash.ts';
import { Prisma } from '../../db/client.ts';
import { isNotUnderWay } from '../../db/mint-under-way.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { LicenseEffects } from './decide.ts';
import type { LicenseSnapshot } from './snapshot.ts';

/** A license that this transaction holds locked, with what a client is told of it. */
export interface HeldLicense extends LicenseSnapshot {
  readonly keyHash: Uint8Array;
}

/** Which license: the one with this key, or the one that an end user has. */
export type LicenseReference = { readonly licenseKey: string } | { readonly licenseId: string };

/**
 * Looks a license up and locks it until the transaction ends, so that the verdict on it still holds when its effects
 * and all that depends on them are written.
 */
export async function holdLicense(
  transaction: Prisma.TransactionClient,
  reference: LicenseReference,
): Promise<HeldLicense | null> {
  const [keyHash, id] =
    'licenseKey' in reference ? [sha256(reference.licenseKey), null] : [null, reference.licenseId];
  const [license] = await transaction.$queryRaw<HeldLicense[]>`
    SELECT id, application_id AS "applicationId", status::text AS status, duration_seconds AS "durationSeconds",
      expires_at AS "expiresAt", hwid, subscription_tier AS "subscriptionTier", key_hash AS "keyHash"
    FROM licenses WHERE (key_hash = ${keyHash} OR id = ${id}::uuid) AND ${Prisma.raw(isNotUnderWay)}
    FOR NO KEY UPDATE`;
  return license ?? null;
}

/** Writes what the verdict does to the license, and answers the license as it is then. */
export async function applyToHeld(
  transaction: Prisma.TransactionClient,
  invalidations: Invalidations,
  license: HeldLicense,
  effects: LicenseEffects,
  now: Date,
): Promise<HeldLicense> {
  const { activate, bindHwid } = effects;
  if (activate === null && bindHwid === null) return license;
  invalidations.license(license.keyHash);
  await transaction.license.update({
    where: { id: license.id },
    data: {
      ...(activate && { status: 'active', activatedAt: now, expiresAt: activate.expiresAt }),
      ...(bindHwid !== null && { hwid: bindHwid }),
    },
    select: { id: true },
  });
  return {
    ...license,
    ...(activate && { status: 'active', expiresAt: activate.expiresAt }),
    ...(bindHwid !== null && { hwid: bindHwid }),
  };
}
