import type { Prisma } from '../../db/client.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { RecordingContext } from '../context.ts';
import { revokeLeases } from '../revocation/revoke-leases.ts';
import { letReturn, noteDevices, type Release, releaseRows } from './device-rows.ts';
import { earlierReleasesOf } from './license-devices.ts';
import { invalidateLicense, type LockedLicense } from './lock.ts';

/**
 * Releases active devices of a locked license. Its leases are revoked, because a revocation list names licenses and not
 * devices: the other devices renew theirs.
 */
export async function releaseDevices(
  ctx: Pick<RecordingContext, 'env'>,
  transaction: Prisma.TransactionClient,
  invalidations: Invalidations,
  license: LockedLicense,
  release: Omit<Release, 'licenseId'>,
): Promise<void> {
  invalidateLicense(invalidations, license);
  await revokeLeases(ctx, transaction, invalidations, license.applicationId, { licenseId: license.id });
  if (release.mayReturn) await letReturn(transaction, license.id, earlierReleasesOf(license, release.ids));
  await releaseRows(transaction, { licenseId: license.id, ...release });
  await noteDevices(transaction, license.id, true, release.now);
}
