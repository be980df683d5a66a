import type { Sha256 } from '../../crypto/hash.ts';
import type { Changing } from './change.ts';
import type { LockedLicense } from './lock.ts';

/** How many replaced keys of a license are kept. Each is a way to its cached copies, so their number is limited. */
export const maxPreviousKeys = 10;

/**
 * Makes room for the new key of a locked license: its current key becomes a previous one, which is good for the overlap,
 * and not longer than the license's term. Earlier ones are good no longer than that. The caller writes the new key.
 * @param overlapSeconds 0: the current key and all earlier ones end now
 * @returns whether they end now: without an overlap, or if the term is over and only the grace is left
 */
export async function retireKeys(
  license: Pick<LockedLicense, 'id' | 'keyHashes' | 'expiresAt' | 'clockStoppedAt'>,
  overlapSeconds: number,
  { transaction, now }: Pick<Changing, 'transaction' | 'now'>,
): Promise<'ended' | 'overlapping'> {
  const validUntil = new Date(now.getTime() + Math.min(overlapSeconds * 1000, termLeft(license, now)));
  await transaction.$executeRaw`
    UPDATE previous_license_keys SET valid_until = least(valid_until, ${validUntil})
    WHERE license_id = ${license.id}::uuid`;
  const [keyHash] = license.keyHashes;
  const kept = validUntil > now && keyHash !== undefined ? maxPreviousKeys - 1 : 0;
  await transaction.$executeRaw`
    DELETE FROM previous_license_keys WHERE key_hash IN (
      SELECT key_hash FROM previous_license_keys WHERE license_id = ${license.id}::uuid
      ORDER BY valid_until DESC OFFSET ${kept}
    ) OR (license_id = ${license.id}::uuid AND valid_until <= ${now})`;
  if (validUntil <= now || keyHash === undefined) return 'ended';
  await transaction.previousLicenseKey.create({
    data: { keyHash: Buffer.from(keyHash), licenseId: license.id, validUntil },
    select: { licenseId: true },
  });
  return 'overlapping';
}

/** The rest of the license's term in milliseconds; it stands still while a suspension keeps it. */
function termLeft(
  { expiresAt, clockStoppedAt }: Pick<LockedLicense, 'expiresAt' | 'clockStoppedAt'>,
  now: Date,
): number {
  if (expiresAt === null) return Number.POSITIVE_INFINITY;
  return Math.max(0, expiresAt.getTime() - (clockStoppedAt ?? now).getTime());
}

/** Whether a license has this key, or had it and has replaced it. */
export async function isKeyTaken(
  { transaction }: Pick<Changing, 'transaction'>,
  keyHash: Sha256,
): Promise<boolean> {
  const [found] = await transaction.$queryRaw<{ taken: boolean }[]>`
    SELECT EXISTS (SELECT FROM licenses WHERE key_hash = ${keyHash})
      OR EXISTS (SELECT FROM previous_license_keys WHERE key_hash = ${keyHash}) AS taken`;
  return found?.taken === true;
}
