import { Prisma } from '../db/client.ts';
import { isStatementTimeout } from '../db/errors.ts';
import type { ServiceContext } from './context.ts';
import { inReadTurn } from './developer-turns.ts';
import { directionOf, edgeOf, inOrder, isBeyond, ofParent } from './list-rows.ts';
import { searchTooBroad, type workLimits } from './request-work.ts';

/** The number of rows of a list that are checked one by one before an index is used. */
export const nearRows = 2_000;
/** The number of rows found by an index that one statement checks; a list with more is checked row by row. */
const maxCandidates = 20_000;
/** The number of lists, and of ranges of a list, that one statement searches. */
const maxLists = 200;
const maxRanges = 2_000;

/** A search in the lists of some parents. */
export interface Search {
  readonly ctx: ServiceContext;
  /** The table's name. */
  readonly table: Prisma.Sql;
  readonly parentColumn: Prisma.Sql;
  readonly parentIds: readonly string[];
  readonly matches: Prisma.Sql;
  /** A necessary condition that keeps the order of an index: no other rows are checked. */
  readonly within: Prisma.Sql;
  /** A necessary condition that an index can find in the whole list; null if there is none. */
  readonly indexed: Prisma.Sql | null;
  /**
   * The ranges that contain all matches: a SELECT of `from_id` and `to_id`, both inclusive and not overlapping, for
   * `parent.id`, a column of the enclosing statement; null if they are not known.
   */
  readonly ranges: Prisma.Sql | null;
  readonly backward: boolean;
  /** The id to continue from; null: from the start, or from the end if `backward`. */
  readonly fromId: string | null;
  readonly limit: keyof typeof workLimits;
  /** The number of rows that one statement checks. */
  readonly rowsAtOnce: number;
}

/** What a search computes from the matching rows, such as their number. */
export interface Finding<Found> {
  readonly nothing: Found;
  /** The SQL of a value of the rows that match, among rows under the table's name. */
  ofRows(rows: Prisma.Sql, matches: Prisma.Sql): Prisma.Sql;
  /** The same for the rows of the table `candidate` whose `fits` is true. */
  readonly ofCandidates: Prisma.Sql;
  /** SQL that is true if a value needs no further rows. */
  isEnough(value: Prisma.Sql): Prisma.Sql;
  /** Adds the value of a further statement to what was found before. */
  add(before: Found, value: unknown): Found;
  isDone(found: Found): boolean;
}

/** The progress of the search in the list of one parent. */
interface Progress<Found> {
  readonly parentId: string;
  found: Found;
  fromId: string;
  seen: number;
}

interface Step {
  readonly parentId: string;
  readonly value: unknown;
  /** The last row that was checked; null if no further rows follow or are needed. */
  readonly edge: string | null;
}

interface Range {
  readonly fromId: string;
  readonly toId: string;
}

/**
 * Searches lists by the index that keeps their order, a few thousand rows a statement, so that other statements run in
 * between, and within the time of the request. If an index can find the matches or their ranges, the nearest rows are
 * checked first, because common matches are among them, and the index is used only then. PostgreSQL by itself would either
 * sort half of a list, or walk all of it for a match that does not exist, because it takes every text for a common one.
 * @throws {ServiceError} SEARCH_TOO_BROAD, TOO_MANY_READS
 */
export async function searchLists<Found>(
  search: Search,
  finding: Finding<Found>,
): Promise<ReadonlyMap<string, Found>> {
  const all = [...new Set(search.parentIds)].map(
    (parentId): Progress<Found> => ({
      parentId,
      found: finding.nothing,
      fromId: search.fromId ?? edgeOf(search),
      seen: 0,
    }),
  );
  const isNear = ({ seen }: Progress<Found>) =>
    seen < nearRows || (search.indexed === null && search.ranges === null);
  for (let open = all; open.length > 0; ) {
    const left = await walk(search, finding, open.slice(0, maxLists), plainWalk(search));
    for (const progress of left.filter((one) => !isNear(one))) await searchFar(search, finding, progress);
    open = [...open.slice(maxLists), ...left.filter(isNear)];
  }
  return new Map(all.map(({ parentId, found }) => [parentId, found]));
}

/** Searches the rest of a list, by an index or by its ranges if there are some. */
async function searchFar<Found>(
  search: Search,
  finding: Finding<Found>,
  progress: Progress<Found>,
): Promise<void> {
  if (search.ranges !== null) return walkRanges(search, finding, progress, search.ranges);
  if (search.indexed !== null && (await askIndex(search, finding, progress, search.indexed))) return;
  for (let left = [progress]; left.length > 0; ) left = await walk(search, finding, left, plainWalk(search));
}

/**
 * Checks the next rows of some lists in one statement.
 * @param rows `FROM … WHERE … ORDER BY …` of the rows of `parent.id`, from `parent.from_id`
 * @returns the lists that have more rows to check
 */
async function walk<Found>(
  search: Search,
  finding: Finding<Found>,
  lists: readonly Progress<Found>[],
  rows: (atOnce: number) => Prisma.Sql,
): Promise<Progress<Found>[]> {
  const { table, matches } = search;
  const atOnce = Math.ceil(search.rowsAtOnce / lists.length);
  const next = Prisma.sql`(SELECT ${table}.* ${rows(atOnce)} LIMIT ${atOnce}) AS ${table}`;
  const steps = await ask<Step>(
    search,
    Prisma.sql`
      SELECT parent.id AS "parentId", step.value, step.edge
      FROM unnest(${lists.map(({ parentId }) => parentId)}::uuid[], ${lists.map(({ fromId }) => fromId)}::uuid[])
        AS parent (id, from_id)
      CROSS JOIN LATERAL (
        WITH found AS MATERIALIZED (SELECT ${finding.ofRows(next, matches)} AS value)
        SELECT value, CASE WHEN NOT ${finding.isEnough(Prisma.sql`value`)} THEN (
          SELECT ${table}.id ${rows(atOnce)} OFFSET ${atOnce - 1} LIMIT 1
        ) END AS edge FROM found
      ) AS step`,
  );
  const stepOf = new Map(steps.map((step) => [step.parentId, step]));
  return lists.filter((progress) => {
    const { value, edge } = stepOf.get(progress.parentId) ?? { value: null, edge: null };
    progress.found = finding.add(progress.found, value);
    progress.seen += atOnce;
    if (edge !== null) progress.fromId = edge;
    return edge !== null && !finding.isDone(progress.found);
  });
}

/** All rows of a list. */
const plainWalk = (search: Search) => (): Prisma.Sql => Prisma.sql`${nextRows(search)} ${inOrder(search)}`;

const nextRows = (search: Search): Prisma.Sql => {
  const { table, within, backward } = search;
  const isNext = isBeyond(Prisma.sql`${table}.id`, Prisma.sql`parent.from_id`, backward);
  return Prisma.sql`${ofParent(search)} AND ${isNext} AND ${within}`;
};

/** The rows of some ranges. */
const rangeWalk =
  (search: Search, ranges: readonly Range[]) =>
  (atOnce: number): Prisma.Sql => {
    const { table } = search;
    const direction = directionOf(search);
    return Prisma.sql`
      FROM (
        SELECT * FROM unnest(
          ${ranges.map(({ fromId }) => fromId)}::uuid[], ${ranges.map(({ toId }) => toId)}::uuid[]
        ) AS range (from_id, to_id)
        ORDER BY from_id ${direction} OFFSET 0
      ) AS range
      CROSS JOIN LATERAL (
        SELECT ${table}.* ${nextRows(search)} AND ${table}.id BETWEEN range.from_id AND range.to_id
        ${inOrder(search)} LIMIT ${atOnce}
      ) AS ${table}
      ORDER BY range.from_id ${direction}, ${table}.id ${direction}`;
  };

async function walkRanges<Found>(
  search: Search,
  finding: Finding<Found>,
  progress: Progress<Found>,
  ranges: Prisma.Sql,
): Promise<void> {
  const { backward } = search;
  const end = Prisma.raw(backward ? 'range.to_id' : 'range.from_id');
  for (;;) {
    const found = await ask<Range>(
      search,
      Prisma.sql`
        SELECT range.from_id AS "fromId", range.to_id AS "toId"
        FROM unnest(${[progress.parentId]}::uuid[]) AS parent (id) CROSS JOIN LATERAL (${ranges}) AS range
        WHERE ${isBeyond(end, Prisma.sql`${progress.fromId}::uuid`, backward)}
        ORDER BY range.from_id ${directionOf(search)} LIMIT ${maxRanges}`,
    );
    const last = found.at(-1);
    if (last === undefined) return;
    const isAhead = ({ fromId, toId }: Range) =>
      backward ? toId > progress.fromId : fromId < progress.fromId;
    for (let left = [progress]; left.length > 0; ) {
      left = await walk(search, finding, left, rangeWalk(search, found.filter(isAhead)));
    }
    if (finding.isDone(progress.found) || found.length < maxRanges) return;
    progress.fromId = backward ? last.toId : last.fromId;
  }
}

/**
 * Searches the rest of a list in one statement, by an index that finds the possible matches in no order.
 * @returns false if the index finds too many
 */
async function askIndex<Found>(
  search: Search,
  finding: Finding<Found>,
  progress: Progress<Found>,
  indexed: Prisma.Sql,
): Promise<boolean> {
  const { table, parentColumn, matches, within, backward } = search;
  const isNext = isBeyond(Prisma.sql`${table}.id`, Prisma.sql`${progress.fromId}::uuid`, backward);
  const [answer] = await ask<{ value: unknown; isTooMany: boolean }>(
    search,
    Prisma.sql`
      WITH candidate AS MATERIALIZED (
        SELECT ${table}.id, ${matches} AS fits FROM ${table}
        WHERE ${parentColumn} = ${progress.parentId}::uuid AND ${isNext} AND ${within} AND ${indexed}
        LIMIT ${maxCandidates + 1}
      )
      SELECT ${finding.ofCandidates} AS value, (SELECT count(*) FROM candidate) > ${maxCandidates} AS "isTooMany"`,
  );
  if (answer === undefined || answer.isTooMany) return false;
  progress.found = finding.add(progress.found, answer.value);
  return true;
}

/** Runs a statement in the developer's turn and within the time of the request. */
async function ask<Row extends object>({ ctx, limit }: Search, sql: Prisma.Sql): Promise<Row[]> {
  try {
    return await inReadTurn(ctx, async () => {
      if (ctx.work?.hasSpent(limit)) throw searchTooBroad();
      // The wait for a connection is not counted.
      const client = await ctx.env.database.pool.connect();
      const start = performance.now();
      let failure: Error | undefined;
      try {
        const { rows } = await client.query<Row>(sql.text, sql.values);
        return rows;
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error));
        throw error;
      } finally {
        client.release(failure);
        ctx.work?.spend(performance.now() - start);
      }
    });
  } catch (error) {
    throw isStatementTimeout(error) ? searchTooBroad(error) : error;
  }
}
