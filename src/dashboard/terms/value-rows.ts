import { randomId } from '../api/random-id.ts';

export type ValueKind = 'boolean' | 'number' | 'text';

/** A value as it is being edited: it may be incomplete. */
export interface ValueRow {
  /** Names the row in the editor; the service never sees it. */
  readonly id: string;
  readonly name: string;
  readonly kind: ValueKind;
  /** As it was typed; `true` or `false` for a boolean. */
  readonly value: string;
}

export interface MetadataRows {
  readonly client: readonly ValueRow[];
  readonly private: readonly ValueRow[];
}

export const newRow = (): ValueRow => ({ id: randomId(), name: '', kind: 'boolean', value: 'true' });

const kindOf = (value: unknown): ValueKind =>
  typeof value === 'boolean' ? 'boolean' : typeof value === 'number' ? 'number' : 'text';

/** The rows of an object with booleans, numbers and texts, such as `entitlements`. */
export const rowsOf = (record: unknown): readonly ValueRow[] =>
  typeof record === 'object' && record !== null
    ? Object.entries(record).map(([name, value], index) => ({
        // The same each time, so that reading again moves no focus.
        id: `row-${index}`,
        name,
        kind: kindOf(value),
        value: String(value),
      }))
    : [];

export const metadataRowsOf = (metadata: Readonly<Record<string, unknown>>): MetadataRows => ({
  client: rowsOf(metadata.client),
  private: rowsOf(metadata.private),
});

function typedValue({ kind, value }: ValueRow): boolean | number | string {
  if (kind === 'boolean') return value === 'true';
  return kind === 'number' ? Number(value) : value;
}

/** What the service takes. */
export const recordOf = (rows: readonly ValueRow[]): Record<string, boolean | number | string> =>
  Object.fromEntries(rows.map((row) => [row.name.trim(), typedValue(row)]));

export const metadataOf = ({ client, private: own }: MetadataRows): Record<string, unknown> => ({
  client: recordOf(client),
  private: recordOf(own),
});

/** What is wrong with a row, before the service is asked; null if nothing is. */
export function rowIssue(row: ValueRow, rows: readonly ValueRow[]): string | null {
  const name = row.name.trim();
  if (name === '') return 'A name is missing.';
  if (rows.some((other) => other.id !== row.id && other.name.trim() === name)) {
    return 'Another row has this name.';
  }
  if (row.kind === 'number' && (row.value.trim() === '' || !Number.isSafeInteger(Number(row.value)))) {
    return 'A whole number is needed.';
  }
  return null;
}

export const areRowsComplete = (rows: readonly ValueRow[]): boolean =>
  rows.every((row) => rowIssue(row, rows) === null);
