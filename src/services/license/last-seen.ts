import { Prisma } from '../../db/client.ts';
import type { ServiceContext } from '../context.ts';
import { run } from '../statements.ts';
import type { LicenseView } from './view.ts';

/** A license with when any of its devices was last seen; null before its first use on a device. */
export interface SeenLicense extends LicenseView {
  readonly lastSeenAt: Date | null;
}

/**
 * Returns when any device of each license was last seen, active or released, in one statement for any number of licenses.
 * Licenses without devices are left out. The caller has checked that the licenses are the developer's.
 */
export async function readLastSeen(
  ctx: ServiceContext,
  licenseIds: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  if (licenseIds.length === 0) return new Map();
  const rows = await run<{ id: string; lastSeenAt: Date }>(
    ctx,
    Prisma.sql`
      SELECT license_id AS id, max(last_seen_at) AS "lastSeenAt" FROM devices
      WHERE license_id = ANY(${[...licenseIds]}::uuid[]) GROUP BY license_id`,
  );
  return new Map(rows.map(({ id, lastSeenAt }) => [id, lastSeenAt]));
}

/** Adds to each license when it was last seen. */
export async function withLastSeen(
  ctx: ServiceContext,
  licenses: readonly LicenseView[],
): Promise<SeenLicense[]> {
  const seen = await readLastSeen(
    ctx,
    licenses.map(({ id }) => id),
  );
  return licenses.map((license) => ({ ...license, lastSeenAt: seen.get(license.id) ?? null }));
}
