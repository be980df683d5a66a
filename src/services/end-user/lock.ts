import type { Prisma } from '../../db/client.ts';
import { isId } from '../../lib/ids.ts';

/** The columns of an end user that changes need. */
export interface LockedEndUser {
  readonly id: string;
  readonly username: string;
  readonly licenseId: string | null;
  readonly lastHwid: string | null;
}

/**
 * Reads and locks an end user until the transaction ends. The caller must have checked that the application belongs to the
 * developer.
 * @returns null if the application has no such user
 */
export async function lockEndUser(
  transaction: Prisma.TransactionClient,
  applicationId: string,
  userId: string,
): Promise<LockedEndUser | null> {
  const [user] = isId(userId)
    ? await transaction.$queryRaw<LockedEndUser[]>`
        SELECT id, username, license_id AS "licenseId", last_hwid AS "lastHwid" FROM end_users
        WHERE id = ${userId}::uuid AND application_id = ${applicationId}::uuid FOR UPDATE`
    : [];
  return user ?? null;
}
