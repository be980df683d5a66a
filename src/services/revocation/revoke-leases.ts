import { Prisma } from '../../db/client.ts';
import { deviceHash } from '../../protocol/v2/device-hash.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { RecordingContext } from '../context.ts';
import { listedUntil } from './listed.ts';
import { lockDevices } from './lock-device.ts';

/** Whose leases to revoke: those of a license or of several, and all of some devices. */
export interface Revoked {
  readonly licenseId: string | readonly string[];
  readonly hwids?: readonly string[];
}

/**
 * Revokes leases that still run, in the transaction of the change that ends the license's right, and raises the
 * application's revocation counter. Without such leases it changes nothing.
 *
 * The caller has locked the licenses (`FOR NO KEY UPDATE`). A lease is issued under a lock of the license that excludes
 * that one (services/lease/record.ts): it is either complete, and revoked here, or is judged after this change.
 *
 * The counter rises to at least the current time in seconds. After a backup was restored, or rows were purged, new values
 * are therefore still higher than those that clients have seen.
 */
export async function revokeLeases(
  ctx: Pick<RecordingContext, 'env'>,
  transaction: Prisma.TransactionClient,
  invalidations: Invalidations,
  applicationId: string,
  { licenseId, hwids = [] }: Revoked,
): Promise<void> {
  const now = new Date(ctx.env.clock.now());
  const licenseIds = [licenseId].flat();
  const devices = hwids.map((hwid) => deviceHash(applicationId, hwid));
  await lockDevices(transaction, applicationId, devices);
  // Leases that were revoked, and none was issued since, stay as they are: banning a license twice changes no list.
  const changed = await transaction.$executeRaw`
    WITH running AS MATERIALIZED (
      SELECT license_id, device_hash FROM leases
      WHERE application_id = ${applicationId}::uuid
        AND (license_id = ANY(${licenseIds}::uuid[]) OR device_hash = ANY(${devices}))
        AND ${Prisma.raw(listedUntil)} > ${now}
        AND (revoked_rev IS NULL OR revoked_rev <= rev)
      ORDER BY license_id, device_hash FOR UPDATE
    ), counter AS (
      INSERT INTO revocation_counters AS counters (application_id, rev)
      SELECT ${applicationId}::uuid, floor(extract(epoch FROM ${now}::timestamptz))::bigint
      WHERE EXISTS (SELECT FROM running)
      ON CONFLICT (application_id) DO UPDATE SET rev = greatest(counters.rev + 1, excluded.rev)
      RETURNING rev
    )
    UPDATE leases SET revoked_rev = counter.rev FROM running, counter
    WHERE leases.application_id = ${applicationId}::uuid AND leases.license_id = running.license_id
      AND leases.device_hash = running.device_hash`;
  if (changed > 0) invalidations.application(applicationId);
}
