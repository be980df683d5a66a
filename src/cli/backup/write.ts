import { createHash } from 'node:crypto';
import type pg from 'pg';
import { type BackupHeader, rowsIn } from './format.ts';
import { rowsOf } from './snapshot.ts';

/**
 * Generates the uncompressed bytes of a backup: header, rows, trailer.
 * @param onRows called with the number of rows in each batch
 */
export async function* backupBytes(
  client: pg.ClientBase,
  header: BackupHeader,
  onRows: (count: number) => void,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  const seal = (text: string): Buffer => {
    const bytes = Buffer.from(text, 'utf8');
    hash.update(bytes);
    return bytes;
  };
  yield seal(`${JSON.stringify(header)}\n`);
  for (const table of header.tables) {
    let count = 0;
    for await (const rows of rowsOf(client, table)) {
      if (rows.some((row) => row.includes('\n')))
        throw new Error(`A row of ${table.name} contains a line feed.`);
      yield seal(`${rows.join('\n')}\n`);
      count += rows.length;
      onRows(rows.length);
    }
    if (count !== table.rows) {
      throw new Error(
        `${table.name} had ${table.rows} rows and now has ${count}: the snapshot is inconsistent.`,
      );
    }
  }
  yield Buffer.from(`${JSON.stringify({ rows: rowsIn(header), sha256: hash.digest('hex') })}\n`, 'utf8');
}
