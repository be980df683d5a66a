import type { ServiceContext } from './context.ts';
import type { ListRow, ListSource } from './list-source.ts';
import { encodeCursor, type Page, type PageInput } from './page.ts';

/**
 * A page of one parent's rows, newest first, with every column of the table: the list of GraphQL's connections, as
 * REST pages through it. Whoever calls has made sure that the parent is the developer's own.
 */
export async function readPage<Row extends ListRow>(
  ctx: ServiceContext,
  source: ListSource<{ q?: string | undefined }>,
  parentId: string,
  { limit, cursor, q }: PageInput,
): Promise<Page<Row>> {
  const slices = await source.slices<Row>({
    ctx,
    parentIds: [parentId],
    filter: { q },
    slice: { size: limit, backward: false, fromId: cursor ?? null },
    lookAhead: true,
    columns: Object.keys(source.table.columns),
  });
  const { rows = [], hasNextPage = false } = slices.get(parentId) ?? {};
  const last = rows.at(-1);
  return { items: rows, nextCursor: hasNextPage && last !== undefined ? encodeCursor(last.id) : null };
}
