import type { ServiceContext } from '../context.ts';
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
export async function addLicenses<Terms, Added>(
  ctx: ServiceContext,
  developerId: string,
  addition: Addition<Terms, Added>,
): Promise<Added> {
  await takeRows(ctx, developerId, addition.ids.length);
  const isShort = addition.ids.length <= maxSlice.licenses && addition.noteCharacters <= maxSlice.characters;
  if (ctx.env.database.kind !== 'server' && !isShort) {
    return addInSlices(ctx, developerId, addition);
  }
  return developerTransaction(
    ctx,
    developerId,
    async (transaction, invalidations) => {
      const terms = await addition.admit(transaction);
      const now = new Date(ctx.env.clock.now());
      const added = await addition.add(terms, (licenses) =>
        insertLicenses(transaction, addition.applicationId, licenses, now),
      );
      await addition.record(transaction, invalidations, added);
      return added;
    },
    timeLimit,
  );
}
