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

/** Where a list begins that is read from its first row: no id of ours lies there. */
export const edgeOf = ({ backward }: Pick<Slice, 'backward'>): string =>
  backward ? '00000000-0000-0000-0000-000000000000' : 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Rows are ordered by parent and id, which only the index on both can do. Were the parent a plain equality, PostgreSQL
 * would know that it adds nothing to the order, and could walk the primary key instead: over all that is newer than
 * this list in the whole table. An array of one is not seen through.
 */
export const inOrder = ({ table, parentColumn, backward }: RowsOfParent): Prisma.Sql => {
  const direction = directionOf({ backward });
  return Prisma.sql`ORDER BY ${parentColumn} ${direction}, ${table}.id ${direction}`;
};

/** `FROM … WHERE …` of the rows of the parent `parent.id` of the statement around; see `inOrder`. */
export const ofParent = ({ table, parentColumn }: RowsOfParent): Prisma.Sql =>
  Prisma.sql`FROM ${table} WHERE ${parentColumn} = ANY(ARRAY[parent.id])`;

/** Whether an id lies on from another in the direction of a slice. */
export const isBeyond = (id: Prisma.Sql, from: Prisma.Sql, backward: boolean): Prisma.Sql =>
  backward ? Prisma.sql`${id} > ${from}` : Prisma.sql`${id} < ${from}`;
