import { Prisma } from '../db/client.ts';
import type { Slice } from './slice.ts';

/** The rows of some parents, in order. */
export interface RowsOfParent {
  /** The table's name. */
  readonly table: Prisma.Sql;
  readonly parentColumn: Prisma.Sql;
  readonly backward: boolean;
}

export const directionOf = ({ backward }: Pick<Slice, 'backward'>): Prisma.Sql =>
  Prisma.raw(backward ? 'ASC' : 'DESC');

/** The id before the first row of a list; it is never an id of ours. */
export const edgeOf = ({ backward }: Pick<Slice, 'backward'>): string =>
  backward ? '00000000-0000-0000-0000-000000000000' : 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Orders by parent and id, which only the index on both supports. If the parent were a plain equality, PostgreSQL would
 * drop it from the order and could walk the primary key instead, over all newer rows of the table. It does not simplify an
 * array of one.
 */
export const inOrder = ({ table, parentColumn, backward }: RowsOfParent): Prisma.Sql => {
  const direction = directionOf({ backward });
  return Prisma.sql`ORDER BY ${parentColumn} ${direction}, ${table}.id ${direction}`;
};

/** `FROM … WHERE …` of the rows of `parent.id`, a column of the enclosing statement; see `inOrder`. */
export const ofParent = ({ table, parentColumn }: RowsOfParent): Prisma.Sql =>
  Prisma.sql`FROM ${table} WHERE ${parentColumn} = ANY(ARRAY[parent.id])`;

/** Whether an id comes after another one in the direction of a slice. */
export const isBeyond = (id: Prisma.Sql, from: Prisma.Sql, backward: boolean): Prisma.Sql =>
  backward ? Prisma.sql`${id} > ${from}` : Prisma.sql`${id} < ${from}`;
