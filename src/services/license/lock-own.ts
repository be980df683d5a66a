import { Prisma } from '../../db/client.ts';
import { isId } from '../../lib/ids.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import { licenseNotFound } from '../errors.ts';

/** The columns of a license that changes need. */
export interface OwnLicense {
  readonly id: string;
  readonly applicationId: string;
  readonly status: 'unused' | 'active' | 'banned';
  readonly subscriptionTier: number;
  readonly hwid: string | null;
  readonly deviceHash: string | null;
  readonly lastIp: string | null;
}

/**
 * Reads and locks a developer's license until the transaction ends, so that it is still the same when it is changed, and
 * invalidates its cached copy. Another developer's license counts as not found.
 * @param application lock on the license's application: `shared` prevents its deletion; `counting` also excludes other
 *   transactions that count its rows
 * @throws {ServiceError} LICENSE_NOT_FOUND
 */
export async function lockOwnLicense(
  transaction: Prisma.TransactionClient,
  invalidations: Invalidations,
  developerId: string,
  id: string,
  application: 'shared' | 'counting' = 'shared',
): Promise<OwnLicense> {
  const strength = Prisma.raw(application === 'counting' ? 'NO KEY UPDATE' : 'KEY SHARE');
  // Locks the application first, like its deletion does; the other order would deadlock with that.
  const [license] = isId(id)
    ? await transaction.$queryRaw<(OwnLicense & { keyHash: Uint8Array })[]>`
        WITH application AS MATERIALIZED (
          SELECT applications.id FROM applications JOIN licenses ON licenses.application_id = applications.id
          WHERE licenses.id = ${id}::uuid AND applications.developer_id = ${developerId}::uuid
          FOR ${strength} OF applications
        )
        SELECT licenses.id, licenses.application_id AS "applicationId", licenses.status::text AS status,
          licenses.subscription_tier AS "subscriptionTier", licenses.hwid, licenses.device_hash AS "deviceHash",
          licenses.last_ip AS "lastIp", licenses.key_hash AS "keyHash"
        FROM licenses JOIN application ON application.id = licenses.application_id
        WHERE licenses.id = ${id}::uuid
        FOR NO KEY UPDATE OF licenses`
    : [];
  if (license === undefined) throw licenseNotFound();
  invalidations.license(license.keyHash);
  return license;
}
