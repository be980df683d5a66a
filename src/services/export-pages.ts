import type { ServiceContext } from './context.ts';
import { inReadTurn } from './developer-turns.ts';

/** Rows of an export, page by page, because a vendor may have more rows than fit in memory. */
export type Pages<Row> = AsyncIterable<readonly Row[]>;

/** Prisma arguments for a page of one owner's rows, newest first (ids are ordered by creation). */
export interface PageOf<Owner> {
  readonly where: Owner & { readonly id?: { readonly lt: string } };
  readonly orderBy: { readonly id: 'desc' };
  readonly take: number;
}

/** Page size for rows that may be long. */
export const fewRows = 100;
const defaultPageSize = 1_000;

/**
 * Reads rows page by page, on demand. Each page is a separate read: rows that are deleted in between may be missing, but no
 * row appears twice.
 * @param ctx each page is read in this caller's turn
 * @param owner condition that selects the owner's rows
 * @param read reads the rows of a page
 * @param maxRows maximum number of rows in total
 * @param pageSize number of rows read, and held in memory, at a time
 */
export async function* pagesOf<Owner extends object, Row extends { readonly id: string }>(
  ctx: ServiceContext,
  owner: Owner,
  read: (page: PageOf<Owner>) => Promise<readonly Row[]>,
  {
    maxRows = Number.POSITIVE_INFINITY,
    pageSize = defaultPageSize,
  }: { maxRows?: number; pageSize?: number } = {},
): AsyncGenerator<readonly Row[], void> {
  let lastId: string | null = null;
  for (let left = maxRows; left > 0; ) {
    const take = Math.min(left, pageSize);
    const where: PageOf<Owner>['where'] = lastId === null ? owner : { ...owner, id: { lt: lastId } };
    const rows: readonly Row[] = await inReadTurn(ctx, () => read({ where, orderBy: { id: 'desc' }, take }));
    if (rows.length > 0) yield rows;
    if (rows.length < take) return;
    left -= rows.length;
    lastId = rows.at(-1)?.id ?? null;
  }
}

/** Yields the pages of each owner in turn. */
export async function* oneByOne<Owner, Row>(
  owners: Pages<Owner>,
  pages: (owner: Owner) => Pages<Row>,
): AsyncGenerator<readonly Row[], void> {
  for await (const page of owners) for (const owner of page) yield* pages(owner);
}

/** Maps every row of every page. */
export async function* mapPages<Row, Mapped>(
  pages: Pages<Row>,
  map: (row: Row) => Mapped,
): AsyncGenerator<readonly Mapped[], void> {
  for await (const page of pages) yield page.map(map);
}

/** Whether an object has such a list, at any depth. */
export const hasPages = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).some((member) => isPages(member) || hasPages(member));

/** Whether a value is a list that is read page by page. */
export const isPages = (value: unknown): value is Pages<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
