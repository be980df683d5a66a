import { z } from 'zod';
import { cursor, pageSize } from './page.ts';

const size = z.int().min(1).max(pageSize.largest);

/**
 * A range of a list that is newest first: so many rows after the row of this id, or before it. A keyset on the id,
 * as REST's pages are: stable while rows are added, and the row itself need not be there any more (design §5).
 */
export interface Slice {
  readonly size: number;
  readonly backward: boolean;
  /** Null: from the list's beginning, or its end. */
  readonly fromId: string | null;
}

/** The arguments of a connection: first and after, or last and before. */
export const sliceInput = z
  .object({
    first: size.optional(),
    after: cursor.optional(),
    last: size.optional(),
    before: cursor.optional(),
  })
  .transform(({ first, after, last, before }, context): Slice => {
    const backward = last !== undefined || before !== undefined;
    if (backward && (first !== undefined || after !== undefined)) {
      const path = [last === undefined ? 'before' : 'last'];
      const message = 'cannot stand beside first or after: page forward or backward';
      context.addIssue({ code: 'custom', path, message });
      return z.NEVER;
    }
    return { size: first ?? last ?? pageSize.fallback, backward, fromId: after ?? before ?? null };
  });

/** The rows of a slice, newest first, and what lies on either side. */
export interface Sliced<Row> {
  readonly rows: readonly Row[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
}

/** Makes a slice of rows that came in its own direction, with the one row more if there was one. */
export function toSliced<Row>(found: readonly Row[], { size, backward, fromId }: Slice): Sliced<Row> {
  const rows = found.slice(0, size);
  const [further, passed] = [found.length > size, fromId !== null];
  return backward
    ? { rows: rows.reverse(), hasNextPage: passed, hasPreviousPage: further }
    : { rows, hasNextPage: further, hasPreviousPage: passed };
}
