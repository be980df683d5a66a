import pg from 'pg';
import { parseJsonTimestamp } from './timestamp.ts';

/** How values that are more than JSON has are read from the texts that PostgreSQL's JSON functions make of them. */
export type FromJson = Readonly<Record<string, (text: string) => unknown>>;

/** One for each column of a row that needs it, and for no other. */
export type FromJsonOf<Row> = {
  readonly [Column in keyof Row as NonNullable<Row[Column]> extends Date | Uint8Array ? Column : never]: (
    text: string,
  ) => NonNullable<Row[Column]>;
};

/** An instant, such as `2026-11-20T09:41:07.123+00:00` where the session is in UTC, as all of ours are. */
export const instant = parseJsonTimestamp;

const parseBytes: (text: string) => Uint8Array<ArrayBuffer> = pg.types.getTypeParser(pg.types.builtins.BYTEA);

/** Bytes, in either of the notations that a server can be set to. */
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
