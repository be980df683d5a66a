import { columnVisibilityFeature, tableFeatures } from '@tanstack/react-table';
import type { ReactNode } from 'react';

export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** CSS width; columns without one share the rest. Where the list is too narrow, the last columns are left out. */
  readonly width?: string;
  /** Right-aligned. */
  readonly number?: boolean;
}

/** What a column without a width needs at least, and the column of checkboxes. */
const leastWidth = 96;
const checkWidth = 40;

/** The ids of the last columns, for which a list of this width has no room. */
export function columnsWithoutRoom<Row>(
  columns: readonly Column<Row>[],
  hidden: ReadonlySet<string>,
  width: number,
): readonly string[] {
  let used = checkWidth;
  return columns
    .filter(({ id }) => !hidden.has(id))
    .filter((column, index) => {
      used += column.width?.endsWith('px') ? Number.parseInt(column.width, 10) : leastWidth;
      return used > width && index > 0;
    })
    .map(({ id }) => id);
}

export const features = tableFeatures({ columnVisibilityFeature });
