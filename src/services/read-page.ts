import type { ServiceContext } from './context.ts';
import type { ListRow, ListSource } from './list-source.ts';
import { encodeCursor, type Page, type PageInput } from './page.ts';

/**
 * A page of REST: the rows of one parent, newest first, with all columns of the table. GraphQL's connections read the same
 * lists. The caller has checked that the parent is the developer's.
 * @param view how a row is shown
 */
export async function readPage<Filter, Row extends ListRow, View>(
  ctx: ServiceContext,
  source: ListSource<Filter>,
  parentId: string,
  { limit, cursor }: Pick<PageInput, 'limit' | 'cursor'>,
  filter: Filter,
  view: (row: Row) => View,
): Promise<Page<View>> {
  const slices = await source.slices<Row>({
    ctx,
    parentIds: [parentId],
    filter,
    slice: { size: limit, backward: false, fromId: cursor ?? null },
    lookAhead: true,
    columns: Object.keys(source.table.columns),
  });
  const { rows = [], hasNextPage = false } = slices.get(parentId) ?? {};
  const last = rows.at(-1);
  const nextCursor = hasNextPage && last !== undefined ? encodeCursor(last.id) : null;
  return { items: rows.map(view), nextCursor };
}
