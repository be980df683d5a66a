import type { ReactNode } from 'react';
import { Loading, Problem } from '../ui/page.tsx';
import { useNarrow } from '../ui/use-narrow.ts';
import { CardList } from './card-list.tsx';
import { type ListProps, TableList } from './table-list.tsx';
import { useRowKeys } from './use-row-keys.ts';

interface AnyListProps<Row extends { readonly id: string }> extends ListProps<Row> {
  /** A row on a narrow screen. */
  readonly card: (row: Row) => ReactNode;
  /** Shown when there is no row. */
  readonly empty: ReactNode;
}

/** A long list: a table, or cards on a narrow screen. */
export function List<Row extends { readonly id: string }>({ card, empty, ...list }: AnyListProps<Row>) {
  const narrow = useNarrow();
  const { pages, selection } = list;
  useRowKeys((index) => pages.rowAt(index)?.id, selection);
  if (pages.error !== null) return <Problem error={pages.error} onRetry={pages.retry} />;
  if (pages.total === null) return <Loading />;
  if (pages.count === 0) return empty;
  return narrow ? <CardList {...list} card={card} /> : <TableList {...list} />;
}
