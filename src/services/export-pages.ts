/** Rows of an export, some at a time: a vendor may have more of them than memory should hold at once. */
export type Pages<Row> = AsyncIterable<readonly Row[]>;

/** A page of what one owner has, as Prisma is asked for it: newest first, as ids are ordered by creation. */
export interface PageOf<Owner> {
  readonly where: Owner & { readonly id?: { readonly lt: string } };
  readonly orderBy: { readonly id: 'desc' };
  readonly take: number;
}

const rowsOfPage = 1_000;

/**
 * Reads rows page by page, as they are asked for. Each page is read for itself: what is deleted meanwhile may be
 * missing, and nothing comes twice.
 * @param owner whose rows, as a condition
 * @param read answers the rows of a page
 * @param first the newest id that is not shown any more; null to begin with the newest row
 * @param most rows in all
 */
export async function* pagesOf<Owner extends object, Row extends { readonly id: string }>(
  owner: Owner,
  read: (page: PageOf<Owner>) => Promise<readonly Row[]>,
  { first = null, most = Number.POSITIVE_INFINITY }: { first?: string | null; most?: number } = {},
): AsyncGenerator<readonly Row[], void> {
  let older = first;
  for (let left = most; left > 0; ) {
    const take = Math.min(left, rowsOfPage);
    const where = older === null ? owner : { ...owner, id: { lt: older } };
    const rows = await read({ where, orderBy: { id: 'desc' }, take });
    if (rows.length > 0) yield rows;
    if (rows.length < take) return;
    left -= rows.length;
    older = rows.at(-1)?.id ?? null;
  }
}

/** The pages of one after the other. */
export async function* oneByOne<Owner, Row>(
  owners: readonly Owner[],
  pages: (owner: Owner) => Pages<Row>,
): AsyncGenerator<readonly Row[], void> {
  for (const owner of owners) yield* pages(owner);
}

/**
 * All rows, for a reader who takes them in one piece.
 * @returns null where there are more than `most`
 */
export async function gather<Row>(pages: Pages<Row>, most: number): Promise<Row[] | null> {
  const rows: Row[] = [];
  for await (const page of pages) {
    rows.push(...page);
    if (rows.length > most) return null;
  }
  return rows;
}

/** Whether a member of an export is a list that is read as it is asked for. */
export const isPages = (value: unknown): value is Pages<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
