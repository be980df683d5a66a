export const valueTypes = ['text', 'number', 'boolean'] as const;
export type ValueType = (typeof valueTypes)[number];

/** A named value while it is edited: an entitlement, or an entry of the metadata. */
export interface ValueRow {
  /** Tells rows apart, whose names change while they are typed. */
  readonly id: number;
  readonly name: string;
  readonly type: ValueType;
  readonly value: string;
}

let lastId = 0;
export const newRow = (): ValueRow => ({ id: ++lastId, name: '', type: 'text', value: '' });

const typeOf = (value: unknown): ValueType =>
  typeof value === 'boolean' ? 'boolean' : typeof value === 'number' ? 'number' : 'text';

const entriesOf = (value: unknown): readonly [string, unknown][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];

export const rowsOf = (values: unknown): readonly ValueRow[] =>
  entriesOf(values).map(([name, value]) => ({
    id: ++lastId,
    name,
    type: typeOf(value),
    value: String(value),
  }));

const parsed = ({ type, value }: ValueRow): string | number | boolean =>
  type === 'boolean' ? value === 'true' : type === 'number' ? Number(value) : value;

/** The values by name; rows without a name are left out. */
export const valuesOf = (rows: readonly ValueRow[]): Record<string, unknown> =>
  Object.fromEntries(
    rows.filter(({ name }) => name.trim() !== '').map((row) => [row.name.trim(), parsed(row)]),
  );

/** What is wrong with a row; null if nothing. */
export function rowProblem(row: ValueRow, rows: readonly ValueRow[]): string | null {
  const name = row.name.trim();
  if (name === '') return row.value === '' ? null : 'Give it a name.';
  if (rows.some((other) => other.id !== row.id && other.name.trim() === name))
    return 'This name is used twice.';
  return row.type === 'number' && !/^-?\d{1,15}$/.test(row.value) ? 'Use a whole number.' : null;
}
