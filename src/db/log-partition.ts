const weekMilliseconds = 7 * 24 * 60 * 60 * 1000;
/** 1970-01-05, the first Monday after the Unix epoch. Weeks start on Monday, in UTC. */
const firstMonday = 4 * 24 * 60 * 60 * 1000;

/** A week of the security log. */
export interface LogPartition {
  /** `security_log_<first day>`, such as `security_log_20261116`. */
  readonly name: string;
  /** Lowest id of the week, included. */
  readonly from: string;
  /** Lowest id of the next week, excluded. */
  readonly to: string;
  /** First millisecond of the week, since the Unix epoch. */
  readonly start: number;
  /** First millisecond of the next week, since the Unix epoch. */
  readonly end: number;
}

/** The lowest UUIDv7 of a millisecond: 48 bits of time, the rest zero (RFC 9562 §5.7). */
export function lowestId(milliseconds: number): string {
  const hex = milliseconds.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The partition of the week that holds `milliseconds` since the Unix epoch, or of one `weeks` later. */
export function partitionOf(milliseconds: number, weeks = 0): LogPartition {
  const index = Math.floor((milliseconds - firstMonday) / weekMilliseconds) + weeks;
  const start = firstMonday + index * weekMilliseconds;
  const end = start + weekMilliseconds;
  const day = new Date(start).toISOString().slice(0, 10).replaceAll('-', '');
  return { name: `security_log_${day}`, from: lowestId(start), to: lowestId(end), start, end };
}

/** The end of the week in a partition's name; infinity for other names. */
export function endOf(name: string): number {
  const [, year, month, day] = /^security_log_(\d{4})(\d{2})(\d{2})$/.exec(name) ?? [];
  return year === undefined
    ? Number.POSITIVE_INFINITY
    : partitionOf(Date.parse(`${year}-${month}-${day}`)).end;
}
