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
  const pattern = patternOf(text);
  const conditions = columns.map((column) => Prisma.sql`${Prisma.raw(column)} ILIKE ${pattern}`);
  return Prisma.sql`(${Prisma.join([...conditions, ...further(text)], ' OR ')})`;
}

/**
 * What an index of trigrams finds of the rows that `holdsText` lets through, as they are joined to one text; null for a
 * text that has no trigram, which such an index would be read whole for. Letters and digits make trigrams, three in a
 * row or at the beginning or end of a word.
 */
export function holdsTextByIndex(
  searchedText: string,
  text: string | undefined,
  further: (text: string) => readonly Prisma.Sql[] = () => [],
): Prisma.Sql | null {
  if (text === undefined || !hasTrigram.test(text)) return null;
  // From a SELECT, so that PostgreSQL plans without knowing it: what is common elsewhere in the table may be rare here.
  const inText = Prisma.sql`${Prisma.raw(searchedText)} ILIKE (SELECT ${patternOf(text)}::text)`;
  return Prisma.sql`(${Prisma.join([inText, ...further(text)], ' OR ')})`;
}

const hasTrigram = /[\p{L}\p{N}]{3}|[\p{L}\p{N}]{2}[^\p{L}\p{N}]|[^\p{L}\p{N}][\p{L}\p{N}]/u;

const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
