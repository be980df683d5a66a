/**
 * Instants as ISO 8601 text in UTC and back, for lists that hold hundreds of them: the engine's own ways take several
 * times as long, most of it for the calendar, and the instants of a list share their days.
 */
const dayMilliseconds = 86_400_000;
/** Some kilobytes; more days than a list holds. */
const mostDays = 2_000;

const dayTexts = new Map<number, string>();

/** `2026-11-20T09:41:07.123Z`, the same as `toISOString`. @throws {RangeError} for a date that is none, as it does */
export function toInstantText(instant: Date): string {
  const at = instant.getTime();
  const day = Math.floor(at / dayMilliseconds);
  const dayText = dayTexts.get(day) ?? keep(dayTexts, day, instant.toISOString().slice(0, -13));
  const inDay = at - day * dayMilliseconds;
  const seconds = Math.floor(inDay / 1000);
  const minutes = Math.floor(seconds / 60);
  const milliseconds = inDay - seconds * 1000;
  return `${dayText}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}:${twoDigits(seconds % 60)}.${
    milliseconds < 100 ? '0' : ''
  }${twoDigits(milliseconds)}Z`;
}

const dayStarts = new Map<string, number>();

/** The start of a day, `2026-11-20`, in milliseconds since 1970; NaN for what is none. */
export const startOfDay = (dayText: string): number =>
  dayStarts.get(dayText) ?? keep(dayStarts, dayText, Date.parse(`${dayText}T00:00:00Z`));

const twoDigits = (number: number): string => (number < 10 ? `0${number}` : `${number}`);

function keep<Key, Value>(kept: Map<Key, Value>, key: Key, value: Value): Value {
  if (kept.size >= mostDays) kept.clear();
  kept.set(key, value);
  return value;
}
