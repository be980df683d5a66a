import { z } from 'zod';
import { cursor, pageSize } from './page.ts';

const size = z.int().min(1).max(pageSize.largest);

/**
 * A range of a list, newest first: a number of rows after or before an id. The keyset is the id, as in REST's pages: it is
 * stable while rows are added, and the row of the id may have been deleted (design §5).
 */
export interface Slice {
  readonly size: number;
  readonly backward: boolean;
  /** Null: from the start of the list, or from its end if `backward`. */
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
      const message = 'cannot be combined with first or after: page either forward or backward';
      context.addIssue({ code: 'custom', path, message });
      return z.NEVER;
    }
    return { size: first ?? last ?? pageSize.fallback, backward, fromId: after ?? before ?? null };
  });

/** The rows of a slice, newest first, and whether more follow on either side. */
export interface Sliced<Row> {
  readonly rows: readonly Row[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
}

/** Makes a slice of rows in its direction, which may have one row more than its size. */
export function toSliced<Row>(found: readonly Row[], { size, backward, fromId }: Slice): Sliced<Row> {
  const rows = found.slice(0, size);
  const [further, passed] = [found.length > size, fromId !== null];
  return backward
    ? { rows: rows.reverse(), hasNextPage: passed, hasPreviousPage: further }
    : { rows, hasNextPage: further, hasPreviousPage: passed };
}
