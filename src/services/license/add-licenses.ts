import type { Prisma } from '../../db/client.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { ServiceContext } from '../context.ts';
import { once } from '../idempotency.ts';
import { developerTransaction } from '../transaction.ts';
import { addInSlices, maxSlice } from './add-in-slices.ts';
import type { Addition } from './addition.ts';
import { insertLicenses } from './insert.ts';
import { takeRows } from './take-rows.ts';

/** Ten thousand rows take a few seconds, and longer on a busy server. In milliseconds. */
const timeLimit = { timeout: 30_000 };

/**
 * Adds licenses: all or none. A server database does it in one transaction. An embedded database has only one session, so
 * large additions run in slices.
 * @throws {ServiceError} RATE_LIMITED, UNAVAILABLE, APP_NOT_FOUND, and whatever `admit` and `add` throw
 */
export function addLicenses<Terms, Added, Answer>(
  ctx: ServiceContext,
  developerId: string,
  addition: Addition<Terms, Added, Answer>,
): Promise<Answer> {
  const addAtOnce = async (
    transaction: Prisma.TransactionClient,
    invalidations: Invalidations,
  ): Promise<Answer> => {
    const terms = await addition.admit(transaction);
    const now = new Date(ctx.env.clock.now());
    const added = await addition.add(terms, (licenses, granted) =>
      insertLicenses(transaction, addition.applicationId, licenses, granted, now),
    );
    await addition.record(transaction, invalidations, added);
    return addition.answer(added);
  };
  // A repeated request takes no rows of the limit, and gets its keys even if the policy was deleted since.
  return once(ctx, async () => {
    const characters = await addition.characters();
    await takeRows(ctx, developerId, addition.ids.length);
    const isShort = addition.ids.length <= maxSlice.licenses && characters <= maxSlice.characters;
    if (ctx.env.database.kind !== 'server' && !isShort) return addInSlices(ctx, developerId, addition);
    return developerTransaction(ctx, developerId, addAtOnce, timeLimit);
  });
}
