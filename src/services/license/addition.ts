import type { Prisma } from '../../db/client.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { NewLicense } from './insert.ts';

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
