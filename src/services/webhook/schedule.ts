const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** The time from each attempt to the next one, in milliseconds. The first attempt is made at once. */
export const delays: readonly number[] = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

/** A webhook without any success for this long is disabled, in milliseconds. */
export const failingLimit = 72 * hour;

/** The longest time that a receiver can ask for with Retry-After, in milliseconds. */
const longestRetryAfter = 24 * hour;
/** Up to a tenth longer, so that deliveries that failed together are not attempted together. */
const jitter = 0.1;

/** An attempt that has failed. */
export interface FailedAttempt {
  /** How many attempts there were, this one included. */
  readonly attempts: number;
  /** In milliseconds since the Unix epoch. */
  readonly now: number;
  /** The value of Retry-After; null without it. */
  readonly retryAfter: string | null;
}

/**
 * When a delivery is attempted again, never before the time that the receiver asks for.
 * @param random from 0 to 1
 * @returns null after the last attempt
 */
export function nextAttempt(
  { attempts, now, retryAfter }: FailedAttempt,
  random: number = Math.random(),
): Date | null {
  const delay = delays[attempts - 1];
  if (delay === undefined) return null;
  const asked = Math.min(parseRetryAfter(retryAfter, now) ?? 0, longestRetryAfter);
  return new Date(Math.ceil(now + Math.max(delay * (1 + jitter * random), asked)));
}

/**
 * Parses Retry-After: seconds or a date (RFC 9110 §10.2.3).
 * @returns milliseconds from now; null if it is neither
 */
function parseRetryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * second;
  // A date of HTTP ends with GMT; Date.parse would also read much else.
  const date = value.endsWith(' GMT') ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
