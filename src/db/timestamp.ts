import pg from 'pg';

const { TIMESTAMPTZ } = pg.types.builtins;
const parseOthers = pg.types.getTypeParser(TIMESTAMPTZ);

/** Length of `2026-11-20 09:41:07`: a fraction of up to three digits may follow, and the offset. */
const toSeconds = 19;

/**
 * Parses a timestamp with time zone in PostgreSQL's format. All sessions use UTC. Lists have hundreds of timestamps, and
 * the driver's parser, which supports every ISO format, takes five times as long.
 * @throws {RangeError} for other texts, because null would mean "never"
 */
export const parseTimestamp = (text: string): Date => parseUsual(text, '+00') ?? parseAny(text);

/**
 * Parses a timestamp in the format of PostgreSQL's JSON functions, `2026-11-20T09:41:07.123+00:00`.
 * @throws {RangeError} for other texts
 */
export const parseJsonTimestamp = (text: string): Date =>
  parseUsual(text, '+00:00') ?? parseAny(text.replace('T', ' ').replace('+00:00', '+00'));

/** The driver's parser returns null for invalid texts, and numbers for infinity. */
function parseAny(text: string): Date {
  const instant = parseOthers(text);
  if (instant === null || Number.isNaN(Number(instant))) throw notATimestamp(text);
  return instant;
}

const notATimestamp = (text: string): RangeError => new RangeError(`Not a timestamp: ${text.slice(0, 60)}`);

/** Null if the timestamp is not in UTC, has microseconds, is BC or before the year 100, or has not a four-digit year. */
function parseUsual(text: string, offset: string): Date | null {
  const fraction = text.length - offset.length - toSeconds;
  // `Date.UTC` reads years 0 to 99 as 1900 to 1999.
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

/** PostgreSQL omits trailing zeros of a fraction. */
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

/** The driver's parsers, with a faster one for timestamps. */
export const valueTypes: pg.CustomTypesConfig = {
  getTypeParser: (id, format) =>
    id === TIMESTAMPTZ && format !== 'binary' ? parseTimestamp : pg.types.getTypeParser(id, format),
};
