import type { Pool } from 'pg';
import type { LicenseEffects } from './decide.ts';
import type { LicenseSnapshot } from './snapshot.ts';

/**
 * Applies a verdict's effects in one statement, provided that the license is unchanged since the verdict. If two devices
 * race, only one binds; of two first uses, only one starts the duration.
 * @returns false if the license has changed and must be checked again
 */
export async function applyFirstUse(
  pool: Pool,
  license: LicenseSnapshot,
  effects: LicenseEffects,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `UPDATE licenses SET
       status = 'active',
       activated_at = CASE WHEN $2 THEN $3 ELSE activated_at END,
       expires_at = CASE WHEN $2 THEN $4 ELSE expires_at END,
       hwid = coalesce($5, hwid),
       device_hash = CASE WHEN $5 IS NULL THEN device_hash END,
       updated_at = $3
     WHERE id = $1
       AND status = $6::"LicenseStatus"
       AND expires_at IS NOT DISTINCT FROM $7
       AND hwid IS NOT DISTINCT FROM $8
       AND device_hash IS NOT DISTINCT FROM $9`,
    [
      license.id,
      effects.activate !== null,
      now,
      effects.activate?.expiresAt ?? null,
      effects.bindHwid,
      license.status,
      license.expiresAt,
      license.hwid,
      license.deviceHash,
    ],
  );
  return rowCount === 1;
}
