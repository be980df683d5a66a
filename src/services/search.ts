import { Prisma } from '../db/client.ts';

/**
 * SQL condition for rows that contain a text in one of these columns, case-insensitively. True for all rows if the text is
 * empty or undefined. `%`, `_` and `\` are matched literally.
 * @param alternatives further conditions, of which one suffices
 */
export function containsText(
  columns: readonly string[],
  text: string | undefined,
  alternatives: (text: string) => readonly Prisma.Sql[] = () => [],
): Prisma.Sql {
  if (text === undefined || text === '') return Prisma.sql`TRUE`;
  const pattern = patternOf(text);
  const conditions = columns.map((column) => Prisma.sql`${Prisma.raw(column)} ILIKE ${pattern}`);
  return Prisma.sql`(${Prisma.join([...conditions, ...alternatives(text)], ' OR ')})`;
}

/**
 * The same condition in a form that uses a trigram index over the columns' concatenation. Null if the text has no trigram,
 * because the whole index would be read. Trigrams are made of letters and digits: three in a row, or fewer at the start or
 * end of a word.
 * @param searchedText the indexed expression
 */
export function containsTextByIndex(
  searchedText: string,
  text: string | undefined,
  alternatives: (text: string) => readonly Prisma.Sql[] = () => [],
): Prisma.Sql | null {
  if (text === undefined || !hasTrigram.test(text)) return null;
  const column = Prisma.raw(searchedText);
  const part = selectivePart(text);
  // The pattern comes from a SELECT so that PostgreSQL plans without its value: a text that is common in the whole table
  // may be rare among this owner's rows.
  const inIndex = Prisma.sql`${column} ILIKE (SELECT ${patternOf(part)}::text)`;
  // `|| ''` keeps PostgreSQL from using the index for the whole text as well.
  const inText = Prisma.sql`(${inIndex} AND (${column} || '') ILIKE ${patternOf(text)})`;
  return Prisma.sql`(${Prisma.join([part === text ? inIndex : inText, ...alternatives(text)], ' OR ')})`;
}

/** Eight characters have six trigrams: usually selective enough. */
const maxPartLength = 8;
const minPartLength = 6;
/** A part with fewer distinct trigrams, such as `00000000`, may be in every row. */
const minTrigrams = 4;

/**
 * The part of a text to look up in the trigram index. The index reads a list of all matching rows per trigram, and a
 * vendor's device and user names often start and end alike: `device-` or `@example.com` can be in a million rows. So this
 * picks the part with digits and the most distinct trigrams if there is one, or else the whole text.
 */
function selectivePart(text: string): string {
  let best = { part: text, trigrams: 0 };
  for (const [run] of text.matchAll(/[a-z0-9]+/gi)) {
    const length = Math.min(run.length, maxPartLength);
    for (let start = 0; length >= minPartLength && start + length <= run.length; start += 1) {
      const part = run.slice(start, start + length);
      const trigrams = /\d/.test(part) ? countTrigrams(part) : 0;
      // Of equally good parts, the last one: numbers differ at their end.
      if (trigrams >= Math.max(minTrigrams, best.trigrams)) best = { part, trigrams };
    }
  }
  return best.part;
}

function countTrigrams(part: string): number {
  const trigrams = new Set<string>();
  for (let start = 0; start + 3 <= part.length; start += 1)
    trigrams.add(part.slice(start, start + 3).toLowerCase());
  return trigrams.size;
}

const hasTrigram = /[\p{L}\p{N}]{3}|[\p{L}\p{N}]{2}[^\p{L}\p{N}]|[^\p{L}\p{N}][\p{L}\p{N}]/u;

const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
