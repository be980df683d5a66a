import type { Pages } from '../../list/use-pages.ts';

/** A list that is read page by page, with rows above it. */
export function abovePages<Row>(rows: readonly Row[], pages: Pages<Row>): Pages<Row> {
  if (rows.length === 0) return pages;
  const { from, rows: loaded } = pages.loaded;
  return {
    ...pages,
    count: rows.length + pages.count,
    total: pages.total && { ...pages.total, count: pages.total.count + rows.length },
    rowAt: (index) => (index < rows.length ? rows[index] : pages.rowAt(index - rows.length)),
    loaded: from === 0 ? { from: 0, rows: [...rows, ...loaded] } : { from: from + rows.length, rows: loaded },
    show: (first, last) => pages.show(Math.max(0, first - rows.length), Math.max(0, last - rows.length)),
  };
}
