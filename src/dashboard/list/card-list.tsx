import type { ReactNode } from 'react';
import { classNames } from '../ui/class-names.ts';
import styles from './list.module.css';
import type { ListProps } from './table-list.tsx';
import { useRowWindow } from './use-window.ts';

/** What most cards need; each is measured. */
const estimatedHeight = 96;

interface CardListProps<Row extends { readonly id: string }>
  extends Omit<ListProps<Row>, 'columns' | 'hidden'> {
  readonly card: (row: Row) => ReactNode;
}

export function CardList<Row extends { readonly id: string }>({
  label,
  pages,
  selection,
  nameOf,
  card,
}: CardListProps<Row>) {
  const { frame, virtualizer } = useRowWindow<Row, HTMLUListElement>(pages, estimatedHeight);
  return (
    <ul
      ref={frame}
      className={styles.cards}
      aria-label={label}
      style={{ height: virtualizer.getTotalSize() }}
    >
      {virtualizer.getVirtualItems().map(({ index, start }) => {
        const row = pages.rowAt(index);
        return (
          <li
            key={row?.id ?? `blank-${index}`}
            ref={virtualizer.measureElement}
            data-index={index}
            className={styles.card}
            style={{ transform: `translateY(${start - virtualizer.options.scrollMargin}px)` }}
          >
            <div className={classNames(styles.cardBody, selection && styles.withCheck)}>
              {selection && row && (
                <input
                  type="checkbox"
                  className={styles.cardCheck}
                  aria-label={`Select ${nameOf?.(row) ?? row.id}`}
                  checked={selection.has(row.id)}
                  onChange={() => selection.toggle(row.id)}
                />
              )}
              {row ? card(row) : <span className={styles.blank}>Loading…</span>}
            </div>
          </li>
        );
      })}
    </ul>
  );
}
