import type { Prisma } from '../../db/client.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { NewLicense } from './insert.ts';
import type { MintTerms } from './mint-terms.ts';

/** Inserts licenses. @returns the inserted ids; if one is missing, its key already exists */
export type Insert = (licenses: readonly NewLicense[], terms: MintTerms) => Promise<ReadonlySet<string>>;

/** Licenses to add to an application. */
export interface Addition<Terms, Added, Answer> {
  readonly applicationId: string;
  /** The ids of all licenses, in order, from `newIds`. */
  readonly ids: readonly string[];
  /** Total length of all texts, which are the main cost: notes, whose trigrams are indexed, entitlements and metadata. */
  characters(): Promise<number>;
  /** Checks that the licenses may be added and returns the terms; can be called more than once. */
  admit(transaction: Prisma.TransactionClient): Promise<Terms>;
  /** Inserts all licenses, or throws. */
  add(terms: Terms, insert: Insert): Promise<Added>;
  /** Records the addition, in the transaction that makes the licenses visible. */
  record(transaction: Prisma.TransactionClient, invalidations: Invalidations, added: Added): Promise<void>;
  /** What the caller is answered, and a request that is repeated with its Idempotency-Key. */
  answer(added: Added): Answer;
}
