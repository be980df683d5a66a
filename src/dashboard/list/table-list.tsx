import { createColumnHelper, useTable } from '@tanstack/react-table';
import { useMemo, useRef } from 'react';
import { classNames } from '../ui/class-names.ts';
import { type Column, columnsWithoutRoom, features } from './columns.ts';
import styles from './list.module.css';
import type { SelectionState } from './selection.ts';
import type { Pages } from './use-pages.ts';
import { useWidth } from './use-width.ts';
import { useRowWindow } from './use-window.ts';

/** The height of a row and its line, as in list.module.css (`--row`). */
const rowHeight = 36;

const noneHidden: ReadonlySet<string> = new Set();

export interface ListProps<Row extends { readonly id: string }> {
  /** What it lists, for screen readers. */
  readonly label: string;
  readonly pages: Pages<Row>;
  readonly columns: readonly Column<Row>[];
  /** Ids of columns that are not shown. */
  readonly hidden?: ReadonlySet<string>;
  readonly selection?: SelectionState;
  /** Names a row for its checkbox. */
  readonly nameOf?: (row: Row) => string;
}

export function TableList<Row extends { readonly id: string }>(props: ListProps<Row>) {
  const { label, pages, columns, hidden = noneHidden, selection, nameOf } = props;
  const surface = useRef<HTMLDivElement>(null);
  const width = useWidth(surface);
  const withoutRoom = width === null ? [] : columnsWithoutRoom(columns, hidden, width);
  const { frame, virtualizer } = useRowWindow<Row, HTMLTableElement>(pages, rowHeight);
  const definitions = useMemo(() => {
    const helper = createColumnHelper<typeof features, Row>();
    return helper.columns(
      columns.map(({ id, header, cell }) =>
        helper.display({ id, header, cell: ({ row }) => cell(row.original) }),
      ),
    );
  }, [columns]);
  const table = useTable({
    features,
    columns: definitions,
    data: pages.loaded.rows,
    getRowId: (row) => row.id,
    state: { columnVisibility: Object.fromEntries([...hidden, ...withoutRoom].map((id) => [id, false])) },
  });
  const { rows } = table.getRowModel();
  const items = virtualizer.getVirtualItems();
  const before = (items[0]?.start ?? 0) - virtualizer.options.scrollMargin;
  const after = virtualizer.getTotalSize() - ((items.at(-1)?.end ?? 0) - virtualizer.options.scrollMargin);
  const span = table.getVisibleLeafColumns().length + (selection ? 1 : 0);
  const column = (id: string) => columns.find((candidate) => candidate.id === id);
  const shownIds = rows.map(({ id }) => id);
  const allShown = selection !== undefined && shownIds.length > 0 && shownIds.every(selection.has);
  return (
    <div ref={surface} className={styles.frame}>
      <table ref={frame} className={styles.table} aria-label={label} aria-rowcount={pages.total?.count ?? -1}>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id}>
              {selection && (
                <th scope="col" className={styles.check}>
                  <input
                    type="checkbox"
                    aria-label="Select all that are loaded"
                    checked={allShown}
                    onChange={() => (allShown ? selection.clear() : selection.select(shownIds))}
                  />
                </th>
              )}
              {group.headers.map((header) => (
                <th
                  key={header.id}
                  scope="col"
                  style={{ width: column(header.column.id)?.width }}
                  className={column(header.column.id)?.number ? styles.number : undefined}
                >
                  <table.FlexRender header={header} />
                </th>
              ))}
            </tr>
          ))}
        </thead>
        <tbody>
          {before > 0 && <Space height={before} span={span} />}
          {items.map(({ index }) => {
            const row = rows[index - pages.loaded.from];
            if (row === undefined || pages.rowAt(index) === undefined) {
              return (
                <tr key={`blank-${index}`} aria-rowindex={index + 2}>
                  <td colSpan={span} className={styles.blank}>
                    {pages.isLoading ? 'Loading…' : ''}
                  </td>
                </tr>
              );
            }
            const isSelected = selection?.has(row.id) ?? false;
            return (
              <tr
                key={row.id}
                aria-rowindex={index + 2}
                data-index={index}
                className={classNames(styles.row, isSelected && styles.selected)}
              >
                {selection && (
                  <td className={styles.check}>
                    <input
                      type="checkbox"
                      aria-label={`Select ${nameOf?.(row.original) ?? row.id}`}
                      checked={isSelected}
                      onChange={() => selection.toggle(row.id)}
                    />
                  </td>
                )}
                {row.getVisibleCells().map((cell) => (
                  <td key={cell.id} className={column(cell.column.id)?.number ? styles.number : undefined}>
                    <table.FlexRender cell={cell} />
                  </td>
                ))}
              </tr>
            );
          })}
          {after > 0 && <Space height={after} span={span} />}
        </tbody>
      </table>
    </div>
  );
}

/** Rows that are not rendered. */
const Space = ({ height, span }: { readonly height: number; readonly span: number }) => (
  <tr className={styles.space} aria-hidden>
    <td colSpan={span} style={{ height }} />
  </tr>
);
