import { z } from 'zod';
import { isId } from '../lib/ids.ts';
import { strictObject, text } from './fields.ts';

/** The number of rows of a page, in REST and in GraphQL (design §5). */
export const pageSize = { fallback: 50, largest: 200 } as const;

/** A cursor wraps the id of the last row of a page. It is opaque to clients, so it can change. */
const cursorPrefix = 'after:';
export const encodeCursor = (lastId: string): string =>
  Buffer.from(cursorPrefix + lastId).toString('base64url');

function decodeCursor(cursor: string): string | null {
  const decoded = Buffer.from(cursor, 'base64url').toString('latin1');
  const lastId = decoded.slice(cursorPrefix.length);
  return isId(lastId) && encodeCursor(lastId) === cursor ? lastId : null;
}

/** Parses a cursor to its id. */
export const cursor = z
  .string()
  .max(200)
  .transform((value, context) => {
    const lastId = decodeCursor(value);
    if (lastId !== null) return lastId;
    context.addIssue({ code: 'custom', message: 'must be a cursor of this list' });
    return z.NEVER;
  });

/** A search text: a case-insensitive substring. */
export const searchText = text({ min: 0, max: 200 });

/** A page of a list, newest first (design §5). The keyset is the id: it is stable while rows are added. */
export const pageInput = strictObject({
  limit: z.int().min(1).max(pageSize.largest).default(pageSize.fallback),
  cursor: cursor.optional(),
  q: searchText.optional(),
});

export type PageInput = z.output<typeof pageInput>;

/** The limits of a list without a `limit`: rows, and bytes of JSON. */
export const wholeList = { rows: 1_000, bytes: 4_000_000 } as const;

/** A page of a list that is answered whole if it is short and no page is requested. */
export const listInput = strictObject({
  limit: z.int().min(1).max(pageSize.largest).optional(),
  cursor: cursor.optional(),
});

export type ListInput = z.output<typeof listInput>;

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}
