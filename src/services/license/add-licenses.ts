import type { Prisma } from '../../db/client.ts';
import type { ServiceContext } from '../context.ts';
import { developerTransaction, type Invalidations } from '../transaction.ts';
import { addInSlices, maxSlice } from './add-in-slices.ts';
import { insertLicenses, type NewLicense } from './insert.ts';
import { takeRows } from './take-rows.ts';

/** Inserts licenses. @returns the inserted ids; if one is missing, its key already exists */
export type Insert = (licenses: readonly NewLicense[]) => Promise<ReadonlySet<string>>;

/** Licenses to add to an application. */
export interface Addition<Terms, Added> {
  readonly applicationId: string;
  /** The ids of all licenses, in order, from `newIds`. */
  readonly ids: readonly string[];
  /** Total length of all notes, whose trigrams are the main cost. */
  readonly noteCharacters: number;
  /** Checks that the licenses may be added and returns the terms; can be called more than once. */
  admit(transaction: Prisma.TransactionClient): Promise<Terms>;
  /** Inserts all licenses, or throws. */
  add(terms: Terms, insert: Insert): Promise<Added>;
  /** Records the addition, in the transaction that makes the licenses visible. */
  record(transaction: Prisma.TransactionClient, invalidations: Invalidations, added: Added): Promise<void>;
}

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
