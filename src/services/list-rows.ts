import { Prisma } from '../db/client.ts';
import type { Slice } from './slice.ts';

/** A stretch of the rows of one parent, whose id is `parent.id` in the statement around. */
export interface RowsOfParent {
  /** The table's name. */
  readonly table: Prisma.Sql;
  readonly columns: Prisma.Sql;
  readonly parentColumn: Prisma.Sql;
  readonly slice: Slice;
  readonly limit: number;
  readonly matches: Prisma.Sql;
  /** What an index finds in the whole list, and what every row that matches fulfils; null where there is none. */
  readonly indexed: Prisma.Sql | null;
  /**
   * Where all rows that match lie: a SELECT of `from_id` and `to_id`, both included, of stretches that do not overlap;
   * null where that is not known.
   */
  readonly stretches: Prisma.Sql | null;
}

/** So many rows are looked at one by one before an index is asked. */
export const nearRows = 2_000;

/**
 * The first rows that match, in order. Where an index knows what matches, or where it lies, the nearest rows are looked
 * at first, among which what is common is found, and only then the index is asked, for all the rest at once: what it
 * finds is in no order. PostgreSQL left to choose would either sort half of a list, or walk through all of it for a match
 * that is not there, as it takes any text for a common one.
 */
export function rowsOfParent(rows: RowsOfParent): Prisma.Sql {
  const { table, columns, parentColumn, slice, limit, matches, indexed, stretches } = rows;
  const direction = Prisma.raw(slice.backward ? 'ASC' : 'DESC');
  const id = Prisma.sql`${table}.id`;
  // Rows are ordered by parent and id, which only the index on both can do. Were the parent a plain equality, PostgreSQL
  // would know that it adds nothing to the order, and could walk the primary key instead: over all that is newer than
  // this list in the whole table. An array of one is not seen through.
  const inOrder = Prisma.sql`ORDER BY ${parentColumn} ${direction}, ${id} ${direction}`;
  const within = isBeyond(id, slice.backward, slice.fromId);
  const walk = Prisma.sql`FROM ${table} WHERE ${parentColumn} = ANY(ARRAY[parent.id]) AND ${within}`;
  if (indexed === null && stretches === null) {
    return Prisma.sql`SELECT ${columns} ${walk} AND ${matches} ${inOrder} LIMIT ${limit}`;
  }
  const isFar = (other: Prisma.Sql) => isBeyond(other, slice.backward, Prisma.sql`(SELECT id FROM edge)`);
  const nearEnd = slice.backward ? Prisma.sql`stretch.to_id` : Prisma.sql`stretch.from_id`;
  const far =
    stretches === null
      ? Prisma.sql`
          FROM (
            SELECT * FROM ${table}
            WHERE ${parentColumn} = parent.id AND ${isFar(id)} AND ${indexed} AND ${matches}
            OFFSET 0
          ) AS ${table}
          WHERE (SELECT count(*) FROM near) < ${limit}
          ORDER BY ${id} ${direction} LIMIT ${limit}`
      : Prisma.sql`
          FROM (SELECT * FROM (${stretches}) AS stretch ORDER BY from_id ${direction} OFFSET 0) AS stretch
          CROSS JOIN LATERAL (
            SELECT * FROM ${table}
            WHERE ${parentColumn} = parent.id AND ${id} BETWEEN stretch.from_id AND stretch.to_id
              AND ${isFar(id)} AND ${matches}
            ORDER BY ${id} ${direction} LIMIT ${limit}
          ) AS ${table}
          WHERE (SELECT count(*) FROM near) < ${limit} AND ${isFar(nearEnd)}
          ORDER BY stretch.from_id ${direction}, ${id} ${direction} LIMIT ${limit}`;
  return Prisma.sql`
    WITH near AS MATERIALIZED (
      SELECT ${columns} FROM (SELECT * ${walk} ${inOrder} LIMIT ${nearRows}) AS ${table}
      WHERE ${matches} ${inOrder} LIMIT ${limit}
    ), edge AS MATERIALIZED (
      SELECT ${id} ${walk} ${inOrder} OFFSET ${nearRows - 1} LIMIT 1
    ), far AS (
      SELECT ${columns} ${far}
    )
    SELECT * FROM (SELECT * FROM near UNION ALL SELECT * FROM far) AS found
    ORDER BY found.id ${direction} LIMIT ${limit}`;
}

/** Whether an id lies on from another in the direction of a slice; none lies on from NULL, the edge of a short list. */
function isBeyond(id: Prisma.Sql, backward: boolean, from: Prisma.Sql | string | null): Prisma.Sql {
  if (from === null) return Prisma.sql`TRUE`;
  const other = typeof from === 'string' ? Prisma.sql`${from}::uuid` : from;
  return backward ? Prisma.sql`${id} > ${other}` : Prisma.sql`${id} < ${other}`;
}
