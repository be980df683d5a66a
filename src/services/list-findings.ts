import { Prisma } from '../db/client.ts';
import { type FromJson, readValues } from '../db/from-json.ts';
import { directionOf, inOrder, type RowsOfParent } from './list-rows.ts';
import type { Finding } from './list-search.ts';

/** Finds the first matching rows, with these columns, in order. */
export function rowsFound<Row extends object>(
  options: RowsOfParent & {
    readonly columns: Prisma.Sql;
    readonly limit: number;
    readonly fromJson: FromJson;
  },
): Finding<readonly Row[]> {
  const { table, columns, limit, fromJson } = options;
  const direction = directionOf(options);
  const inList = (rows: Prisma.Sql) => Prisma.sql`(SELECT json_agg(own) FROM (${rows}) AS own)`;
  return {
    nothing: [],
    ofRows: (rows, matches) =>
      inList(Prisma.sql`SELECT ${columns} FROM ${rows} WHERE ${matches} ${inOrder(options)} LIMIT ${limit}`),
    ofCandidates: inList(Prisma.sql`
      SELECT ${columns} FROM ${table}
      WHERE ${table}.id = ANY(ARRAY(SELECT id FROM candidate WHERE fits ORDER BY id ${direction} LIMIT ${limit}))
      ORDER BY ${table}.id ${direction}`),
    isEnough: (value) => Prisma.sql`coalesce(json_array_length(${value}), 0) >= ${limit}`,
    add: (before, value) => {
      // The columns are those of the statement, whose rows the caller types.
      const rows = (value ?? []) as (Row & Record<string, unknown>)[];
      readValues(rows, fromJson);
      return [...before, ...rows].slice(0, limit);
    },
    isDone: (rows) => rows.length >= limit,
  };
}

/** Counts the matching rows, up to `most`. */
export function rowsCounted(most: number): Finding<{ readonly count: number; readonly isExact: boolean }> {
  return {
    nothing: { count: 0, isExact: true },
    ofRows: (rows, matches) => Prisma.sql`(SELECT count(*)::int FROM ${rows} WHERE ${matches})`,
    ofCandidates: Prisma.sql`(SELECT count(*)::int FROM candidate WHERE fits)`,
    isEnough: () => Prisma.sql`FALSE`,
    add: ({ count }, value) => {
      const sum = count + (typeof value === 'number' ? value : 0);
      return { count: Math.min(sum, most), isExact: sum <= most };
    },
    isDone: ({ isExact }) => !isExact,
  };
}
