import pg from 'pg';

const { TIMESTAMPTZ } = pg.types.builtins;
const parseOthers = pg.types.getTypeParser(TIMESTAMPTZ);

/** Length of `2026-11-20 09:41:07`: a fraction of up to three digits may follow, and the offset. */
const toSeconds = 19;

/**
 * The instant of a timestamp with time zone, as PostgreSQL writes it when the session is in UTC, as all of ours are.
 * Lists hold hundreds of them, and the driver's own parser, which reads every ISO notation, takes five times as long.
 * @throws {RangeError} for other texts: null would be read as "never"
 */
export const parseTimestamp = (text: string): Date => parseUsual(text, '+00') ?? parseAny(text);

/**
 * The same for the notation of PostgreSQL's JSON functions, `2026-11-20T09:41:07.123+00:00`.
 * @throws {RangeError} for other texts
 */
export const parseJsonTimestamp = (text: string): Date =>
  parseUsual(text, '+00:00') ?? parseAny(text.replace('T', ' ').replace('+00:00', '+00'));

/** The driver's parser returns null for texts that it cannot read, and numbers for infinity. */
function parseAny(text: string): Date {
  const instant = parseOthers(text);
  if (instant === null || Number.isNaN(Number(instant))) throw notATimestamp(text);
  return instant;
}

const notATimestamp = (text: string): RangeError => new RangeError(`Not a timestamp: ${text.slice(0, 60)}`);

/** Null for what is not UTC, of microseconds, of a year that has not four digits, BC, or before the year 100. */
function parseUsual(text: string, offset: string): Date | null {
  const fraction = text.length - offset.length - toSeconds;
  // `Date.UTC` takes the years 0 to 99 for those of the 20th century.
  if (fraction < 0 || fraction > 4 || !text.endsWith(offset) || text[4] !== '-' || text.startsWith('00'))
    return null;
  const [month, day] = [twoDigits(text, 5) - 1, twoDigits(text, 8)];
  const instant = new Date(
    Date.UTC(
      twoDigits(text, 0) * 100 + twoDigits(text, 2),
      month,
      day,
      twoDigits(text, 11),
      twoDigits(text, 14),
      twoDigits(text, 17),
      milliseconds(text, fraction),
    ),
  );
  // Malformed digits, or a day that the month does not have.
  if (instant.getUTCMonth() !== month || instant.getUTCDate() !== day) throw notATimestamp(text);
  return instant;
}

/** Zeros at the end of a fraction are not written. */
function milliseconds(text: string, fraction: number): number {
  switch (fraction) {
    case 4:
      return digit(text, 20) * 100 + twoDigits(text, 21);
    case 3:
      return twoDigits(text, 20) * 10;
    case 2:
      return digit(text, 20) * 100;
    default:
      return 0;
  }
}

const zero = '0'.charCodeAt(0);
const digit = (text: string, index: number): number => text.charCodeAt(index) - zero;
const twoDigits = (text: string, index: number): number => digit(text, index) * 10 + digit(text, index + 1);

/** How the driver's values become ours. */
export const valueTypes: pg.CustomTypesConfig = {
  getTypeParser: (id, format) =>
    id === TIMESTAMPTZ && format !== 'binary' ? parseTimestamp : pg.types.getTypeParser(id, format),
};
