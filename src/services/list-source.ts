import { Prisma } from '../db/client.ts';
import type { FromJson } from '../db/from-json.ts';
import type { ServiceContext } from './context.ts';
import { rowsOfParent } from './list-rows.ts';
import { type Slice, type Sliced, toSliced } from './slice.ts';
import { run, runTogether } from './statements.ts';

/** A table that lists are read from. */
export interface ListTable {
  /** Its name in SQL. */
  readonly name: string;
  /** SQL of each column, under the name that callers know. What does not stand here is never read. */
  readonly columns: Readonly<Record<string, string>>;
  /** How those of its columns are read that are more than JSON has. */
  readonly fromJson: FromJson;
  /** SQL of the id of the developer whose row it is. */
  readonly developerId: string;
}

export interface ListRow {
  readonly id: string;
}

/** Which rows of some parents to read. Whoever asks has made sure that the parents are the developer's own. */
export interface ListQuery<Filter> {
  readonly ctx: ServiceContext;
  readonly parentIds: readonly string[];
  readonly filter: Filter;
  /** Whether it can be part of one statement for all that the request reads in this moment, and fail with the rest. */
  readonly together?: boolean;
}

/** Rows that belong to parents of one kind, newest first: an application's licenses, a license's users. */
export interface ListSource<Filter> {
  readonly table: ListTable;
  /**
   * The same slice of the rows of each parent, with these columns beside the id, in one statement: however many
   * parents there are and however long their lists, as the keyset is an index's.
   */
  slices<Row extends ListRow = ListRow>(
    query: ListQuery<Filter> & {
      readonly slice: Slice;
      /** Whether to see if more rows follow, at the cost of one row more a parent. If not, it says that none do. */
      readonly lookAhead: boolean;
      readonly columns: readonly string[];
    },
  ): Promise<ReadonlyMap<string, Sliced<Row>>>;
  /** How many rows each parent has; one that has none is left out. */
  counts(query: ListQuery<Filter>): Promise<ReadonlyMap<string, number>>;
}

export interface ListSourceOptions<Filter> {
  readonly table: ListTable;
  /** Column of the parent's id, which the table has an index on together with its own id. */
  readonly parentColumn: string;
  /** The rows that a filter lets through. */
  readonly matches: (filter: Filter, ctx: ServiceContext) => Prisma.Sql;
  /** What an index of the whole table finds, where it has one for the filter: every row that matches fulfils it. */
  readonly indexed?: (filter: Filter) => Prisma.Sql | null;
  /** Where the rows that match lie, as `RowsOfParent` has it. */
  readonly stretches?: (filter: Filter) => Prisma.Sql | null;
}

/** Reads through the connection pool instead of Prisma, which has no limit a parent and needs several times the CPU. */
export function listSource<Filter>(options: ListSourceOptions<Filter>): ListSource<Filter> {
  const { table, matches } = options;
  const name = Prisma.raw(table.name);
  const parentColumn = Prisma.raw(`${table.name}.${options.parentColumn}`);
  return {
    table,
    async slices<Row extends ListRow>({
      ctx,
      parentIds,
      filter,
      together,
      slice,
      lookAhead,
      columns,
    }: Parameters<ListSource<Filter>['slices']>[0]) {
      const direction = Prisma.raw(slice.backward ? 'ASC' : 'DESC');
      const [only = '', ...others] = parentIds;
      // Rows are passed on as they come, and those of one parent need not say whose they are.
      const whose = others.length === 0 ? Prisma.empty : Prisma.sql`parent.id AS "parentId", `;
      // The columns are those of the table, whose rows the caller types.
      const found = await read<Row & { readonly parentId?: string }>(
        { ctx, together, fromJson: table.fromJson },
        Prisma.sql`
          SELECT ${whose}own.*
          FROM unnest(${parentIds}::uuid[]) AS parent (id)
          CROSS JOIN LATERAL (
            ${rowsOfParent({
              table: name,
              columns: selected(table, columns),
              parentColumn,
              slice,
              limit: slice.size + (lookAhead ? 1 : 0),
              matches: matches(filter, ctx),
              indexed: options.indexed?.(filter) ?? null,
              stretches: options.stretches?.(filter) ?? null,
            })}
          ) AS own
          ORDER BY own.id ${direction}`,
      );
      const rows = new Map(parentIds.map((parentId): [string, Row[]] => [parentId, []]));
      for (const row of found) rows.get(row.parentId ?? only)?.push(row);
      return new Map([...rows].map(([parentId, own]) => [parentId, toSliced(own, slice)]));
    },
    async counts({ ctx, parentIds, filter, together }) {
      const own = Prisma.sql`${matches(filter, ctx)} AND ${options.indexed?.(filter) ?? Prisma.sql`TRUE`}`;
      const stretches = options.stretches?.(filter) ?? null;
      const rows =
        stretches === null
          ? Prisma.sql`FROM ${name} WHERE ${parentColumn} = ANY(${parentIds}::uuid[]) AND ${own}`
          : Prisma.sql`
              FROM unnest(${parentIds}::uuid[]) AS parent (id) CROSS JOIN LATERAL (${stretches}) AS stretch
              CROSS JOIN LATERAL (
                SELECT * FROM ${name} WHERE ${parentColumn} = ANY(ARRAY[parent.id])
                  AND ${name}.id >= stretch.from_id AND ${name}.id <= stretch.to_id AND ${own}
                OFFSET 0
              ) AS ${name}`;
      const counts = await read<{ parentId: string; count: number }>(
        { ctx, together, fromJson: {} },
        Prisma.sql`SELECT ${parentColumn} AS "parentId", count(*)::int AS count ${rows} GROUP BY 1`,
      );
      return new Map(counts.map(({ parentId, count }) => [parentId, count]));
    },
  };
}

const read = <Row extends object>(
  { ctx, together, fromJson }: { ctx: ServiceContext; together: boolean | undefined; fromJson: FromJson },
  sql: Prisma.Sql,
): Promise<Row[]> => (together ? runTogether<Row>(ctx, sql, fromJson) : run<Row>(ctx, sql));

/** The columns of a table that a caller asked for, the id always among them; names that it has not are passed over. */
export function selected(table: ListTable, columns: readonly string[]): Prisma.Sql {
  const asked = new Set(['id', ...columns]);
  const known = Object.entries(table.columns).filter(([column]) => asked.has(column));
  return Prisma.raw(known.map(([column, sql]) => `${sql} AS "${column}"`).join(', '));
}

/** All of the conditions that are given; TRUE when none is. */
export function all(conditions: readonly (Prisma.Sql | false | undefined)[]): Prisma.Sql {
  const given = conditions.filter((condition) => condition instanceof Prisma.Sql);
  return given.length === 0 ? Prisma.sql`TRUE` : Prisma.join(given, ' AND ');
}

/** Whether a column has a value. */
export const isSet = (column: string, set: boolean): Prisma.Sql =>
  Prisma.raw(`${column} IS ${set ? 'NOT NULL' : 'NULL'}`);
