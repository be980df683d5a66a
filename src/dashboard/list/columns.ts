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
  /** Never left out, such as what can be done with a row. */
  readonly stays?: boolean;
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
  const shown = columns.filter(({ id }) => !hidden.has(id));
  let used = checkWidth;
  for (const column of shown) if (column.stays) used += widthOf(column);
  return shown
    .filter((column, index) => {
      if (column.stays) return false;
      used += widthOf(column);
      return used > width && index > 0;
    })
    .map(({ id }) => id);
}

const widthOf = ({ width }: Pick<Column<never>, 'width'>): number =>
  width?.endsWith('px') ? Number.parseInt(width, 10) : leastWidth;

export const features = tableFeatures({ columnVisibilityFeature });
