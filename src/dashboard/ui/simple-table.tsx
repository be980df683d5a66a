import type { Key, ReactNode } from 'react';
import { classNames } from './class-names.ts';
import styles from './simple-table.module.css';

export interface SimpleColumn<Row> {
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Right-aligned. */
  readonly number?: boolean;
}

interface SimpleTableProps<Row> {
  /** What it lists, for screen readers. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => Key;
  readonly columns: readonly SimpleColumn<Row>[];
}

/** A short table, which is rendered whole; lists that can be long use `List`. On narrow screens each row is a block. */
export function SimpleTable<Row>({ label, rows, keyOf, columns }: SimpleTableProps<Row>) {
  return (
    <div className={styles.frame}>
      <table className={classNames(styles.table, styles.stacked)} aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ header, number }) => (
              <th key={header} scope="col" className={number ? styles.number : undefined}>
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ header, number, cell }) => (
                <td key={header} data-label={header} className={number ? styles.number : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
