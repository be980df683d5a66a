import { Prisma } from '../../db/client.ts';
import { isNotUnderWay } from '../../db/mint-under-way.ts';
import type { LicenseSnapshot } from '../license/snapshot.ts';

/**
 * Reads an application's license, and locks it against changes until the transaction ends. Leases of one license do not
 * wait for each other. Null if it does not exist.
 */
export async function lockLeasable(
  transaction: Prisma.TransactionClient,
  applicationId: string,
  licenseId: string,
): Promise<LicenseSnapshot | null> {
  // Locks the application first, like its deletion does; recording the lease would lock it later.
  const [license] = await transaction.$queryRaw<LicenseSnapshot[]>`
    WITH application AS MATERIALIZED (
      SELECT id FROM applications WHERE id = ${applicationId}::uuid FOR KEY SHARE
    )
    SELECT licenses.id, application_id AS "applicationId", status::text AS status,
      duration_seconds AS "durationSeconds", expires_at AS "expiresAt", hwid, device_hash AS "deviceHash",
      subscription_tier AS "subscriptionTier"
    FROM licenses JOIN application ON application.id = application_id
    WHERE licenses.id = ${licenseId}::uuid AND ${Prisma.raw(isNotUnderWay)}
    FOR SHARE OF licenses`;
  return license ?? null;
}
