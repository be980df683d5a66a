import { Prisma } from '../db/client.ts';

/**
 * The rows that hold a text in one of these columns, in any case; all rows when it is empty or not given. `%`, `_` and
 * `\` stand for themselves.
 * @param further what else lets a row through
 */
export function holdsText(
  columns: readonly string[],
  text: string | undefined,
  further: (text: string) => readonly Prisma.Sql[] = () => [],
): Prisma.Sql {
  if (text === undefined || text === '') return Prisma.sql`TRUE`;
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
  const conditions = columns.map((column) => Prisma.sql`${Prisma.raw(column)} ILIKE ${pattern}`);
  return Prisma.sql`(${Prisma.join([...conditions, ...further(text)], ' OR ')})`;
}
