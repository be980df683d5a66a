import type { ServiceContext } from './context.ts';
import type { Pages } from './export-pages.ts';
import type { ListRow, ListSource } from './list-source.ts';
import type { Sliced } from './slice.ts';

/** How to read the rows of several parents for an export. */
export interface ChildrenOptions<Row, View> {
  readonly view: (row: Row) => View;
  /** How many rows of each parent are held in memory with a page of parents. */
  readonly atFirst: number;
}

/** Rows of one parent that are read at a time, if it has more than `atFirst`. */
const rowsAtOnce = 100;

/**
 * Reads the rows of several parents, newest first. Those of a parent are an array if there are few, as for nearly all
 * parents, and otherwise pages that are read on demand.
 */
export async function readChildren<Row extends ListRow, View>(
  ctx: ServiceContext,
  source: ListSource<object>,
  parentIds: readonly string[],
  { view, atFirst }: ChildrenOptions<Row, View>,
): Promise<(parentId: string) => View[] | Pages<View>> {
  const read = (ids: readonly string[], fromId: string | null, size: number) =>
    source.slices<Row>({
      ctx,
      parentIds: ids,
      filter: {},
      slice: { size, backward: false, fromId },
      lookAhead: true,
      columns: Object.keys(source.table.columns),
    });
  async function* pagesFrom(parentId: string, first: Sliced<Row>) {
    let slice: Sliced<Row> | undefined = first;
    while (slice !== undefined) {
      if (slice.rows.length > 0) yield slice.rows.map(view);
      const last = slice.rows.at(-1);
      slice =
        slice.hasNextPage && last ? (await read([parentId], last.id, rowsAtOnce)).get(parentId) : undefined;
    }
  }
  const newest = await read(parentIds, null, atFirst);
  return (parentId) => {
    const slice = newest.get(parentId);
    if (slice === undefined) return [];
    return slice.hasNextPage ? pagesFrom(parentId, slice) : slice.rows.map(view);
  };
}
