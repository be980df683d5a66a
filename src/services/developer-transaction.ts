import type { Prisma } from '../db/client.ts';
import type { ServiceContext } from './context.ts';
import { ServiceError } from './errors.ts';

/** Prisma's own limit for a short transaction is 5 s; what may rewrite millions of rows says so. */
interface TransactionOptions {
  readonly timeout?: number;
}

/**
 * Runs a developer's change in a transaction that holds the account first, so that it cannot be deleted meanwhile.
 *
 * Everything that locks rows takes them from the owner down (developer, application, end user, license), as deletions
 * cascade: two that took them in different orders would wait for each other.
 * @throws {ServiceError} UNAUTHENTICATED when the account has just been deleted
 */
export function developerTransaction<Result>(
  ctx: ServiceContext,
  developerId: string,
  work: (transaction: Prisma.TransactionClient) => Promise<Result>,
  options: TransactionOptions = {},
): Promise<Result> {
  return ctx.env.database.prisma.$transaction(async (transaction) => {
    const held = await transaction.$queryRaw<unknown[]>`
      SELECT id FROM developers WHERE id = ${developerId}::uuid FOR KEY SHARE`;
    if (held.length === 0) throw new ServiceError('UNAUTHENTICATED', 'This account has been deleted.');
    return work(transaction);
  }, options);
}

/**
 * Holds an application until the transaction ends, so that it cannot be deleted meanwhile.
 * @returns false when it is gone
 */
export async function holdApplication(
  transaction: Prisma.TransactionClient,
  applicationId: string,
): Promise<boolean> {
  const held = await transaction.$queryRaw<unknown[]>`
    SELECT id FROM applications WHERE id = ${applicationId}::uuid FOR KEY SHARE`;
  return held.length > 0;
}
