/**
 * A Prisma filter for a case-insensitive substring. `%`, `_` and `\` stand for themselves: Prisma puts the text into
 * an ILIKE pattern as it is.
 */
export const containsText = (text: string) => ({
  contains: text.replace(/[\\%_]/g, '\\$&'),
  mode: 'insensitive' as const,
});

/** The same as an ILIKE pattern, for SQL of our own. */
export const containsPattern = (text: string): string => `%${containsText(text).contains}%`;
