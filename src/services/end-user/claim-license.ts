import type { Prisma } from '../../db/client.ts';
import { activeDevices, sameAs } from '../license/license-devices.ts';
import type { LockedLicense } from '../license/lock.ts';

/** A use of a license by an end user who is linked to it. */
export interface Claim {
  /** As it is after the use; null if the user has none. */
  readonly license: LockedLicense | null;
  readonly userId: string;
  readonly hwid: string | null;
}

/**
 * Makes an end user the account of their license, which may change its devices (services/self-service): the first that
 * uses it on one of its devices. Any number of accounts can be linked to a license by its key, also without a device, so a
 * link alone must not let somebody with a leaked key evict the customer.
 */
export async function claimLicense(
  transaction: Prisma.TransactionClient,
  { license, userId, hwid }: Claim,
): Promise<void> {
  if (license === null || hwid === null || license.ownerUserId !== null) return;
  if (!activeDevices(license).some(sameAs(license.applicationId, { hwid }))) return;
  await transaction.license.updateMany({
    where: { id: license.id, ownerUserId: null },
    data: { ownerUserId: userId },
  });
}

/** No user has this id. A license whose account was deleted cannot be claimed by another one that has its key. */
const nobody = '00000000-0000-0000-0000-000000000000';

/** Takes the name of a user who is deleted from the licenses whose account they were. */
export async function disownLicenses(transaction: Prisma.TransactionClient, userId: string): Promise<void> {
  await transaction.license.updateMany({ where: { ownerUserId: userId }, data: { ownerUserId: nobody } });
}
