import type { ServiceContext } from './context.ts';
import { inReadTurn } from './developer-turns.ts';

/** Rows of an export, some at a time: a vendor may have more of them than memory should hold at once. */
export type Pages<Row> = AsyncIterable<readonly Row[]>;

/** A page of what one owner has, as Prisma is asked for it: newest first, as ids are ordered by creation. */
export interface PageOf<Owner> {
  readonly where: Owner & { readonly id?: { readonly lt: string } };
  readonly orderBy: { readonly id: 'desc' };
  readonly take: number;
}

/** Of rows that may be long; shorter ones come more at a time. */
export const fewRows = 100;
const rowsOfPage = 1_000;

/**
 * Reads rows page by page, as they are asked for. Each page is read for itself: what is deleted meanwhile may be
 * missing, and nothing comes twice.
 * @param ctx whose turn each page is read in
 * @param owner whose rows, as a condition
 * @param read answers the rows of a page
 * @param most rows in all
 * @param rows how many are read, and are in memory, at a time
 */
export async function* pagesOf<Owner extends object, Row extends { readonly id: string }>(
  ctx: ServiceContext,
  owner: Owner,
  read: (page: PageOf<Owner>) => Promise<readonly Row[]>,
  { most = Number.POSITIVE_INFINITY, rows: atOnce = rowsOfPage }: { most?: number; rows?: number } = {},
): AsyncGenerator<readonly Row[], void> {
  let older: string | null = null;
  for (let left = most; left > 0; ) {
    const take = Math.min(left, atOnce);
    const where: PageOf<Owner>['where'] = older === null ? owner : { ...owner, id: { lt: older } };
    const rows: readonly Row[] = await inReadTurn(ctx, () => read({ where, orderBy: { id: 'desc' }, take }));
    if (rows.length > 0) yield rows;
    if (rows.length < take) return;
    left -= rows.length;
    older = rows.at(-1)?.id ?? null;
  }
}

/** The pages of one owner after the other. */
export async function* oneByOne<Owner, Row>(
  owners: Pages<Owner>,
  pages: (owner: Owner) => Pages<Row>,
): AsyncGenerator<readonly Row[], void> {
  for await (const some of owners) for (const owner of some) yield* pages(owner);
}

/** The same pages of what each row is turned into. */
export async function* mapPages<Row, Turned>(
  pages: Pages<Row>,
  turn: (row: Row) => Turned,
): AsyncGenerator<readonly Turned[], void> {
  for await (const page of pages) yield page.map(turn);
}

/** Whether a member of an export is a list that is read as it is asked for. */
export const isPages = (value: unknown): value is Pages<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
