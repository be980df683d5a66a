import type { z } from 'zod';
import { Prisma } from '../db/client.ts';
import type { FromJson } from '../db/from-json.ts';
import { requireDeveloper } from './actor.ts';
import type { ServiceContext } from './context.ts';
import { rowsCounted, rowsFound } from './list-findings.ts';
import { directionOf, inOrder, isBeyond, ofParent } from './list-rows.ts';
import { nearRows, type Search, searchLists } from './list-search.ts';
import type { Scope } from './scopes.ts';
import { type Slice, type Sliced, toSliced } from './slice.ts';
import { run } from './statements.ts';

/** A table that lists are read from. */
export interface ListTable {
  /** Its name in SQL. */
  readonly name: string;
  /** The SQL of each column by its name in Prisma. No other column is ever read. */
  readonly columns: Readonly<Record<string, string>>;
  /** How to parse columns that JSON has no type for. */
  readonly fromJson: FromJson;
  /** The SQL of the id of the developer who owns the row. */
  readonly developerId: string;
  /** The SQL of the id of the application that the row belongs to; null for rows of the account. */
  readonly applicationId: string | null;
  /** The scope that a caller needs to read its rows. */
  readonly readScope: Scope;
}

export interface ListRow {
  readonly id: string;
}

/** The number of rows of a list. */
export interface ListCount {
  readonly count: number;
  /** False if there are more than `count`, which is then `maxCounted`. */
  readonly isExact: boolean;
}

/** The count of a filtered list stops here, unless more is asked for. A whole list is counted to its end. */
export const maxCounted = 10_000;

/** Which rows of some parents to read. The caller has checked that the parents are the developer's. */
export interface ListQuery<Filter> {
  readonly ctx: ServiceContext;
  readonly parentIds: readonly string[];
  readonly filter: Filter;
  /** The scope that the caller needs instead of the table's, for a verb that does not show the rows. */
  readonly scope?: Scope;
}

/** Rows that belong to parents of one kind, newest first, such as an application's licenses. */
export interface ListSource<Filter> {
  readonly table: ListTable;
  /** Parses a filter. */
  readonly filter: z.ZodType<Filter>;
  /**
   * The same slice of the rows of each parent, with the id and these columns. Whole lists are read in one statement for
   * any number of parents, by an index on the keyset. Filtered lists are searched (list-search.ts).
   */
  slices<Row extends ListRow = ListRow>(
    query: ListQuery<Filter> & {
      readonly slice: Slice;
      /** Whether to check that more rows follow, by reading one more row a parent. If false, the slice says that none do. */
      readonly lookAhead: boolean;
      readonly columns: readonly string[];
    },
  ): Promise<ReadonlyMap<string, Sliced<Row>>>;
  /** The number of rows of each parent; with a filter, up to `most`. */
  counts(query: ListQuery<Filter> & { readonly most?: number }): Promise<ReadonlyMap<string, ListCount>>;
}

export interface ListSourceOptions<Filter> extends Pick<ListSource<Filter>, 'table' | 'filter'> {
  /** The column of the parent's id. The table has an index on it and its own id. */
  readonly parentColumn: string;
  /** The condition of a filter. */
  readonly matches: (filter: Filter, ctx: ServiceContext) => Prisma.Sql;
  /** A necessary condition that an index in the list's order can use. */
  readonly within?: (filter: Filter) => Prisma.Sql | null;
  /** A necessary condition that an index of the whole table can use; null if there is none for the filter. */
  readonly indexed?: (filter: Filter) => Prisma.Sql | null;
  /** The ranges of ids that contain all matches, as in `Search`. */
  readonly ranges?: (filter: Filter) => Prisma.Sql | null;
  /** The SQL of how many rows `parent.id` has, from sums: for whole lists that take too long to count. */
  readonly summedCount?: Prisma.Sql;
}

/** Whether a filter has any condition. */
export const isNarrowed = (filter: object): boolean =>
  Object.values(filter).some((value) => value !== undefined && value !== null && value !== '');

/** Reads through the connection pool: Prisma has no limit for each parent and takes several times the CPU. */
export function listSource<Filter extends object>(options: ListSourceOptions<Filter>): ListSource<Filter> {
  const { table, matches } = options;
  const name = Prisma.raw(table.name);
  const parentColumn = Prisma.raw(`${table.name}.${options.parentColumn}`);

  const searchOf = (
    { ctx, parentIds, filter }: ListQuery<Filter>,
    { backward, fromId }: Pick<Slice, 'backward' | 'fromId'>,
  ): Search => ({
    ctx,
    table: name,
    parentColumn,
    parentIds,
    matches: matches(filter, ctx),
    within: options.within?.(filter) ?? Prisma.sql`TRUE`,
    indexed: options.indexed?.(filter) ?? null,
    ranges: options.ranges?.(filter) ?? null,
    backward,
    fromId,
    limit: 'searching',
    rowsAtOnce: nearRows,
  });

  return {
    table,
    filter: options.filter,
    async slices<Row extends ListRow>(query: Parameters<ListSource<Filter>['slices']>[0]) {
      const { ctx, parentIds, filter, slice, lookAhead } = query;
      requireDeveloper(ctx.actor, query.scope ?? table.readScope);
      const columns = selected(table, query.columns);
      const limit = slice.size + (lookAhead ? 1 : 0);
      const order = { table: name, parentColumn, backward: slice.backward };
      if (isNarrowed(filter)) {
        const found = await searchLists(
          searchOf(query, slice),
          rowsFound<Row>({ ...order, columns, limit, fromJson: table.fromJson }),
        );
        return new Map([...found].map(([parentId, rows]) => [parentId, toSliced(rows, slice)]));
      }
      const [only = '', ...others] = parentIds;
      // The rows of a single parent need not name it.
      const whose = others.length === 0 ? Prisma.empty : Prisma.sql`parent.id AS "parentId", `;
      const isNext =
        slice.fromId === null
          ? Prisma.sql`TRUE`
          : isBeyond(Prisma.sql`${name}.id`, Prisma.sql`${slice.fromId}::uuid`, slice.backward);
      // The columns are those of the table, whose rows the caller types.
      const found = await run<Row & { readonly parentId?: string }>(
        ctx,
        Prisma.sql`
          SELECT ${whose}own.*
          FROM unnest(${parentIds}::uuid[]) AS parent (id)
          CROSS JOIN LATERAL (
            SELECT ${columns} ${ofParent(order)} AND ${isNext} AND ${matches(filter, ctx)}
            ${inOrder(order)} LIMIT ${limit}
          ) AS own
          ORDER BY own.id ${directionOf(slice)}`,
      );
      const rows = new Map(parentIds.map((parentId): [string, Row[]] => [parentId, []]));
      for (const row of found) rows.get(row.parentId ?? only)?.push(row);
      return new Map([...rows].map(([parentId, own]) => [parentId, toSliced(own, slice)]));
    },
    async counts(query) {
      const { ctx, parentIds, filter, most = maxCounted } = query;
      requireDeveloper(ctx.actor, query.scope ?? table.readScope);
      const search = searchOf(query, { backward: false, fromId: null });
      if (isNarrowed(filter)) return searchLists(search, rowsCounted(most));
      // Most lists are short and are counted in one statement; long ones are counted in further statements.
      const short = Math.ceil(countedAtFirst / Math.max(1, parentIds.length));
      const counts = await run<{ parentId: string; count: number }>(
        ctx,
        Prisma.sql`
          SELECT parent.id AS "parentId", (
            SELECT count(*)::int FROM (
              SELECT ${ofParent(search)} AND ${search.matches} LIMIT ${short + 1}
            ) AS own
          ) AS count
          FROM unnest(${parentIds}::uuid[]) AS parent (id)`,
      );
      const longIds = counts.filter(({ count }) => count > short).map(({ parentId }) => parentId);
      const long =
        options.summedCount === undefined
          ? await searchLists(
              { ...search, parentIds: longIds, limit: 'counting', rowsAtOnce: countedAtOnce },
              rowsCounted(Number.POSITIVE_INFINITY),
            )
          : await readSums(ctx, longIds, options.summedCount);
      return new Map(
        counts.map(({ parentId, count }) => [parentId, long.get(parentId) ?? { count, isExact: true }]),
      );
    },
  };
}

/** The numbers of rows of some parents, from sums. */
async function readSums(
  ctx: ServiceContext,
  parentIds: readonly string[],
  sum: Prisma.Sql,
): Promise<ReadonlyMap<string, ListCount>> {
  if (parentIds.length === 0) return new Map();
  const sums = await run<{ parentId: string; count: number }>(
    ctx,
    Prisma.sql`
      SELECT parent.id AS "parentId", (${sum})::int AS count FROM unnest(${parentIds}::uuid[]) AS parent (id)`,
  );
  return new Map(sums.map(({ parentId, count }) => [parentId, { count, isExact: true }]));
}

/** The number of rows that the first statement counts for all lists together, and that each further one counts, in an index. */
const countedAtFirst = 10_000;
const countedAtOnce = 50_000;

/** The columns of a Prisma selection in SQL: the schema maps each field to its name in snake case. */
export const columnsOf = (table: string, selection: object): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.keys(selection).map((name) => [
      name,
      `${table}.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
    ]),
  );

/** The requested columns of a table and its id; unknown names are ignored. */
export function selected(table: ListTable, columns: readonly string[]): Prisma.Sql {
  const asked = new Set(['id', ...columns]);
  const known = Object.entries(table.columns).filter(([column]) => asked.has(column));
  return Prisma.raw(known.map(([column, sql]) => `${sql} AS "${column}"`).join(', '));
}

/** The conjunction of the given conditions; TRUE if there is none. */
export function all(conditions: readonly (Prisma.Sql | false | undefined)[]): Prisma.Sql {
  const given = conditions.filter((condition) => condition instanceof Prisma.Sql);
  return given.length === 0 ? Prisma.sql`TRUE` : Prisma.join(given, ' AND ');
}

/** Whether a column has a value. */
export const isSet = (column: string, set: boolean): Prisma.Sql =>
  Prisma.raw(`${column} IS ${set ? 'NOT NULL' : 'NULL'}`);
