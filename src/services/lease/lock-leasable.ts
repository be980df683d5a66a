import { sha256 } from '../../crypto/hash.ts';
import { Prisma } from '../../db/client.ts';
import { isNotUnderWay } from '../../db/mint-under-way.ts';
import { readLocked } from '../license/lock.ts';
import type { LicenseSnapshot } from '../license/snapshot.ts';

/**
 * Reads an application's license, and locks it against changes until the transaction ends. Leases of one license do not
 * wait for each other. Null if it does not exist, or if the key does not name it any more: it may have been replaced since
 * it was judged.
 */
export async function lockLeasable(
  transaction: Prisma.TransactionClient,
  applicationId: string,
  licenseId: string,
  licenseKey: string,
): Promise<LicenseSnapshot | null> {
  // Locks the application first, like its deletion does; recording the lease would lock it later.
  const locked = await transaction.$queryRaw<unknown[]>`
    WITH application AS MATERIALIZED (
      SELECT id FROM applications WHERE id = ${applicationId}::uuid FOR KEY SHARE
    )
    SELECT FROM licenses JOIN application ON application.id = application_id
    WHERE licenses.id = ${licenseId}::uuid AND ${Prisma.raw(isNotUnderWay)}
    FOR SHARE OF licenses`;
  if (locked.length === 0) return null;
  const [license] = await readLocked(transaction, { keyHash: sha256(licenseKey), ids: [] });
  return license?.id === licenseId ? license : null;
}
