import { Prisma } from '../db/client.ts';
import { isStatementTimeout } from '../db/errors.ts';
import type { ServiceContext } from './context.ts';
import { inReadTurn } from './developer-turns.ts';
import { directionOf, edgeOf, inOrder, isBeyond, ofParent } from './list-rows.ts';
import { searchTooBroad, type workLimits } from './request-work.ts';

/** So many rows of a list are looked at one by one before an index is asked. */
export const nearRows = 2_000;
/** So many rows that an index finds are looked at in one statement; of a list with more, all rows are. */
const mostCandidates = 20_000;
/** So many lists are searched in one statement, and so many ranges of one. */
const mostLists = 200;
const mostRanges = 2_000;

/** What is looked for in the lists of some parents, and where. */
export interface Search {
  readonly ctx: ServiceContext;
  /** The table's name. */
  readonly table: Prisma.Sql;
  readonly parentColumn: Prisma.Sql;
  readonly parentIds: readonly string[];
  readonly matches: Prisma.Sql;
  /** What narrows the list and keeps the order of an index: no other rows are looked at. */
  readonly within: Prisma.Sql;
  /** What an index finds in the whole list, and what every row that matches fulfils; null where there is none. */
  readonly indexed: Prisma.Sql | null;
  /**
   * Where all rows that match lie: a SELECT of `from_id` and `to_id`, both included, of ranges that do not overlap,
   * for the parent `parent.id` of the statement around; null where that is not known.
   */
  readonly ranges: Prisma.Sql | null;
  readonly backward: boolean;
  /** The row that the search goes on from; null: from the beginning, or the end. */
  readonly fromId: string | null;
  readonly limit: keyof typeof workLimits;
  /** So many rows are looked at in one statement. */
  readonly rowsAtOnce: number;
}

/** What is made of the rows that match, such as their number. */
export interface Finding<Found> {
  readonly nothing: Found;
  /** SQL of a value that is made of rows, which have the table's name, and of those alone that match. */
  ofRows(rows: Prisma.Sql, matches: Prisma.Sql): Prisma.Sql;
  /** The same of the rows whose ids stand in the table `candidate` with a true `fits`. */
  readonly ofCandidates: Prisma.Sql;
  /** SQL that is true of a value when no further rows are needed. */
  isEnough(value: Prisma.Sql): Prisma.Sql;
  /** What was found until now together with the value of a further statement. */
  add(before: Found, value: unknown): Found;
  isDone(found: Found): boolean;
}

/** How far the list of one parent has been searched. */
interface Progress<Found> {
  readonly parentId: string;
  found: Found;
  fromId: string;
  seen: number;
}

interface Step {
  readonly parentId: string;
  readonly value: unknown;
  /** The last row that was looked at; null where no further ones follow, or are needed. */
  readonly edge: string | null;
}

interface Range {
  readonly fromId: string;
  readonly toId: string;
}

/**
 * Searches lists a few thousand rows a statement, by the index that keeps their order, so that others get in between,
 * and no longer than the request has time for. Where an index knows what matches, or where it lies, the nearest rows are
 * looked at first, among which what is common is found, and only then the index is asked. PostgreSQL left to choose
 * would either sort half of a list, or walk through all of it for a match that is not there, as it takes any text for a
 * common one.
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
    const left = await walk(search, finding, open.slice(0, mostLists), plainWalk(search));
    for (const progress of left.filter((one) => !isNear(one))) await searchFar(search, finding, progress);
    open = [...open.slice(mostLists), ...left.filter(isNear)];
  }
  return new Map(all.map(({ parentId, found }) => [parentId, found]));
}

/** The rest of a list: what an index finds of it, or where it leads. */
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
 * One statement that looks at the next rows of some lists.
 * @param rows `FROM … WHERE … ORDER BY …` of the rows of the parent `parent.id`, from `parent.from_id` on
 * @returns those of which there is more to see
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

/** The rows of a list one after another. */
const plainWalk = (search: Search) => (): Prisma.Sql => Prisma.sql`${nextRows(search)} ${inOrder(search)}`;

const nextRows = (search: Search): Prisma.Sql => {
  const { table, within, backward } = search;
  const isNext = isBeyond(Prisma.sql`${table}.id`, Prisma.sql`parent.from_id`, backward);
  return Prisma.sql`${ofParent(search)} AND ${isNext} AND ${within}`;
};

/** Those of some ranges. */
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
        ORDER BY range.from_id ${directionOf(search)} LIMIT ${mostRanges}`,
    );
    const last = found.at(-1);
    if (last === undefined) return;
    const isAhead = ({ fromId, toId }: Range) =>
      backward ? toId > progress.fromId : fromId < progress.fromId;
    for (let left = [progress]; left.length > 0; ) {
      left = await walk(search, finding, left, rangeWalk(search, found.filter(isAhead)));
    }
    if (finding.isDone(progress.found) || found.length < mostRanges) return;
    progress.fromId = backward ? last.toId : last.fromId;
  }
}

/**
 * One statement for the rest of a list, for which an index knows what may match: it comes in no order.
 * @returns whether it was searched: not where the index finds too many
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
        LIMIT ${mostCandidates + 1}
      )
      SELECT ${finding.ofCandidates} AS value, (SELECT count(*) FROM candidate) > ${mostCandidates} AS "isTooMany"`,
  );
  if (answer === undefined || answer.isTooMany) return false;
  progress.found = finding.add(progress.found, answer.value);
  return true;
}

/** A statement in turn, and within the time that the request has. */
async function ask<Row extends object>({ ctx, limit }: Search, sql: Prisma.Sql): Promise<Row[]> {
  try {
    return await inReadTurn(ctx, async () => {
      if (ctx.work?.hasSpent(limit)) throw searchTooBroad();
      // Waiting for a connection is others' time.
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
