import { Prisma } from '../../db/client.ts';
import { isId } from '../../lib/ids.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { ServiceContext } from '../context.ts';
import { licenseNotFound } from '../errors.ts';
import { isOwnApplication } from '../own-application.ts';
import { invalidateLicense, type LockedLicense, readLocked } from './lock.ts';

/**
 * Reads and locks a developer's license until the transaction ends, so that it is still the same when it is changed, and
 * invalidates its cached copies. Another developer's license counts as not found.
 * @param application lock on the license's application: `shared` prevents its deletion; `counting` also excludes other
 *   transactions that count its rows
 * @throws {ServiceError} LICENSE_NOT_FOUND
 */
export async function lockOwnLicense(
  { actor }: Pick<ServiceContext, 'actor'>,
  transaction: Prisma.TransactionClient,
  invalidations: Invalidations,
  id: string,
  application: 'shared' | 'counting' = 'shared',
): Promise<LockedLicense> {
  const strength = Prisma.raw(application === 'counting' ? 'NO KEY UPDATE' : 'KEY SHARE');
  // Locks the application first, like its deletion does; the other order would deadlock with that.
  const locked = isId(id)
    ? await transaction.$queryRaw<unknown[]>`
        WITH application AS MATERIALIZED (
          SELECT applications.id FROM applications JOIN licenses ON licenses.application_id = applications.id
          WHERE licenses.id = ${id}::uuid AND ${isOwnApplication(actor)}
          FOR ${strength} OF applications
        )
        SELECT FROM licenses JOIN application ON application.id = licenses.application_id
        WHERE licenses.id = ${id}::uuid
        FOR NO KEY UPDATE OF licenses`
    : [];
  const [license] = locked.length === 0 ? [] : await readLocked(transaction, { ids: [id] });
  if (license === undefined) throw licenseNotFound();
  invalidateLicense(invalidations, license);
  return license;
}
