import { z } from 'zod';
import { isId } from '../lib/ids.ts';
import { strictObject, text } from './fields.ts';

/** How many rows a page has, in REST and in GraphQL (design §5). */
export const pageSize = { fallback: 50, largest: 200 } as const;

/** Wraps and unwraps a cursor: the id that the page ended at. Opaque to callers, so that it may change. */
const cursorPrefix = 'after:';
export const encodeCursor = (lastId: string): string =>
  Buffer.from(cursorPrefix + lastId).toString('base64url');

function decodeCursor(cursor: string): string | null {
  const decoded = Buffer.from(cursor, 'base64url').toString('latin1');
  const lastId = decoded.slice(cursorPrefix.length);
  return isId(lastId) && encodeCursor(lastId) === cursor ? lastId : null;
}

/** The id that a cursor wraps. */
export const cursor = z
  .string()
  .max(200)
  .transform((value, context) => {
    const lastId = decodeCursor(value);
    if (lastId !== null) return lastId;
    context.addIssue({ code: 'custom', message: 'must be a cursor of this list' });
    return z.NEVER;
  });

/** What to search for: a case-insensitive substring. */
export const searchText = text({ min: 0, max: 200 });

/** Which page of a list, newest first (design §5). A keyset on the id: stable while rows are added. */
export const pageInput = strictObject({
  limit: z.int().min(1).max(pageSize.largest).default(pageSize.fallback),
  cursor: cursor.optional(),
  q: searchText.optional(),
});

export type PageInput = z.output<typeof pageInput>;

/** The most that a list without a `limit` answers at once: rows, and bytes of JSON. */
export const wholeList = { rows: 1_000, bytes: 4_000_000 } as const;

/** Which part of a list that is answered whole, as far as that is short, unless a page of it is asked for. */
export const listInput = strictObject({
  limit: z.int().min(1).max(pageSize.largest).optional(),
  cursor: cursor.optional(),
});

export type ListInput = z.output<typeof listInput>;

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Null at the end. */
  readonly nextCursor: string | null;
}
