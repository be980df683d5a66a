import pg from 'pg';
import { parseJsonTimestamp } from './timestamp.ts';

/** Parsers of columns whose types JSON lacks, from the text that PostgreSQL's JSON functions produce. */
export type FromJson = Readonly<Record<string, (text: string) => unknown>>;

/** A parser for each Date or Uint8Array column of a row. */
export type FromJsonOf<Row> = {
  readonly [Column in keyof Row as NonNullable<Row[Column]> extends Date | Uint8Array ? Column : never]: (
    text: string,
  ) => NonNullable<Row[Column]>;
};

/** An instant such as `2026-11-20T09:41:07.123+00:00`. All sessions use UTC. */
export const instant = parseJsonTimestamp;

const parseBytes: (text: string) => Uint8Array<ArrayBuffer> = pg.types.getTypeParser(pg.types.builtins.BYTEA);

/** Bytes, in either format of `bytea_output`. */
export const bytes = (text: string): Uint8Array<ArrayBuffer> => parseBytes(text);

/** Replaces the texts of those columns by their values, in the rows themselves. */
export function readValues(rows: readonly Record<string, unknown>[], fromJson: FromJson): void {
  for (const [column, read] of Object.entries(fromJson)) {
    for (const row of rows) {
      const text = row[column];
      if (typeof text === 'string') row[column] = read(text);
    }
  }
}
