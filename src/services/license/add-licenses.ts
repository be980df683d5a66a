import type { Prisma } from '../../db/client.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { ServiceContext } from '../context.ts';
import { developerTransaction } from '../transaction.ts';
import { addInSlices, largestSlice } from './add-in-slices.ts';
import { insertLicenses, type NewLicense } from './insert.ts';
import { takeRows } from './take-rows.ts';

/** Puts licenses in. @returns the ids that went in; a missing one's key exists already */
export type Insert = (licenses: readonly NewLicense[]) => Promise<ReadonlySet<string>>;

/** Licenses to add to an application. */
export interface Addition<Terms, Added> {
  readonly applicationId: string;
  /** The ids of all licenses in order, as `newIds` made them. */
  readonly ids: readonly string[];
  /** Of all their notes together: it is their trigrams that cost. */
  readonly noteCharacters: number;
  /** Says whether they may be added, and on what terms; it may be asked more than once. */
  admit(transaction: Prisma.TransactionClient): Promise<Terms>;
  /** Inserts all of them, or throws. */
  add(terms: Terms, insert: Insert): Promise<Added>;
  /** What happens along with it, in the transaction from which on they can be seen. */
  record(transaction: Prisma.TransactionClient, invalidations: Invalidations, added: Added): Promise<void>;
}

/** Ten thousand rows take a few seconds; a busy server is given time. */
const timeLimit = { timeout: 30_000 };

/**
 * Adds licenses: all of them or none. On a server in one transaction, beside which everybody else goes on; in an
 * embedded database, which has one session, many go in slices.
 * @throws {ServiceError} RATE_LIMITED, UNAVAILABLE, APP_NOT_FOUND, and what `admit` and `add` throw
 */
export async function addLicenses<Terms, Added>(
  ctx: ServiceContext,
  developerId: string,
  addition: Addition<Terms, Added>,
): Promise<Added> {
  await takeRows(ctx, developerId, addition.ids.length);
  const isShort =
    addition.ids.length <= largestSlice.licenses && addition.noteCharacters <= largestSlice.characters;
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
