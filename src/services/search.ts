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
  const column = Prisma.raw(searchedText);
  const part = tellingPart(text);
  // From a SELECT, so that PostgreSQL plans without knowing it: what is common elsewhere in the table may be rare here.
  const inIndex = Prisma.sql`${column} ILIKE (SELECT ${patternOf(part)}::text)`;
  // Joined to nothing, so that the index is not asked for the whole text as well.
  const inText = Prisma.sql`(${inIndex} AND (${column} || '') ILIKE ${patternOf(text)})`;
  return Prisma.sql`(${Prisma.join([part === text ? inIndex : inText, ...further(text)], ' OR ')})`;
}

/** A part of so many characters has up to six trigrams: few rows have all, unless most have. */
const longestPart = 8;
const shortestPart = 6;
/** A part with fewer different ones, as of `00000000`, may be in every row. */
const fewestTrigrams = 4;

/**
 * What an index of trigrams is asked for in place of a text. Each trigram costs it a list of all rows that have it, and
 * what a vendor's devices and users are called begins and ends alike: `device-` or `@example.com` is in a million rows.
 * So, where there is one, a part in which letters and digits tell one from another; else the whole text.
 */
function tellingPart(text: string): string {
  let telling = { part: text, trigrams: 0 };
  for (const [run] of text.matchAll(/[a-z0-9]+/gi)) {
    const length = Math.min(run.length, longestPart);
    for (let start = 0; length >= shortestPart && start + length <= run.length; start += 1) {
      const part = run.slice(start, start + length);
      const trigrams = /\d/.test(part) ? countTrigrams(part) : 0;
      // Of equals the last: numbers differ at their end.
      if (trigrams >= Math.max(fewestTrigrams, telling.trigrams)) telling = { part, trigrams };
    }
  }
  return telling.part;
}

function countTrigrams(part: string): number {
  const trigrams = new Set<string>();
  for (let start = 0; start + 3 <= part.length; start += 1)
    trigrams.add(part.slice(start, start + 3).toLowerCase());
  return trigrams.size;
}

const hasTrigram = /[\p{L}\p{N}]{3}|[\p{L}\p{N}]{2}[^\p{L}\p{N}]|[^\p{L}\p{N}][\p{L}\p{N}]/u;

const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
