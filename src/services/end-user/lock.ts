import type { Prisma } from '../../db/client.ts';
import { isId } from '../../lib/ids.ts';

/** An end user of an application, as a change to it looks at it. */
export interface LockedEndUser {
  readonly id: string;
  readonly username: string;
  readonly licenseId: string | null;
  readonly lastHwid: string | null;
}

/**
 * The end user, locked until the transaction ends. Whoever calls has made sure that the application is the
 * developer's.
 * @returns null when the application has no such user
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
