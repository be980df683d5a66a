import type { ServiceContext } from './context.ts';
import type { ListRow, ListSource } from './list-source.ts';
import { encodeCursor, type ListInput, type Page, pageSize, wholeList } from './page.ts';
import { readPage } from './read-page.ts';

/**
 * A list that is answered in one page if it is short, newest first. It is read some rows at a time, and ends where the
 * page would become too long, in rows or as JSON: one row can take 45 kB. The caller has checked that the parent is the
 * developer's.
 * @param view how a row is shown
 */
export async function readList<Row extends ListRow, View extends ListRow>(
  ctx: ServiceContext,
  source: ListSource<object>,
  parentId: string,
  { limit = wholeList.rows, cursor }: ListInput,
  view: (row: Row) => View,
): Promise<Page<View>> {
  const items: View[] = [];
  let bytes = 0;
  for (let after = cursor; ; ) {
    const size = Math.min(limit - items.length, pageSize.largest);
    const page = await readPage(ctx, source, parentId, { limit: size, cursor: after }, {}, view);
    for (const item of page.items) {
      bytes += Buffer.byteLength(JSON.stringify(item));
      const last = items.at(-1);
      if (last !== undefined && bytes > wholeList.bytes) return { items, nextCursor: encodeCursor(last.id) };
      items.push(item);
    }
    if (page.nextCursor === null || items.length === limit) return { items, nextCursor: page.nextCursor };
    after = items.at(-1)?.id;
  }
}
