import { columnVisibilityFeature, tableFeatures } from '@tanstack/react-table';
import type { ReactNode } from 'react';

export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** CSS width; columns without one share the rest. */
  readonly width?: string;
  /** Right-aligned. */
  readonly number?: boolean;
}

export const features = tableFeatures({ columnVisibilityFeature });
