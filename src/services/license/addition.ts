import type { Prisma } from '../../db/client.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { NewLicense } from './insert.ts';

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
