const dayMilliseconds = 24 * 60 * 60 * 1000;

/** How long the entries of one partition of the security log span. */
export type LogPartitionUnit = 'week' | 'day';

const units = {
  /** 1970-01-05 is the first Monday after the Unix epoch. Weeks start on Monday, in UTC. */
  week: { milliseconds: 7 * dayMilliseconds, origin: 4 * dayMilliseconds, prefix: 'security_log_' },
  day: { milliseconds: dayMilliseconds, origin: 0, prefix: 'security_log_day_' },
} as const;

/** A range of time, in milliseconds since the Unix epoch. */
export interface TimeRange {
  /** The first millisecond. */
  readonly start: number;
  /** The first millisecond after it. */
  readonly end: number;
}

/** A week or a day of the security log. */
export interface LogPartition extends TimeRange {
  /** `security_log_<first day>` for a week, such as `security_log_20261116`; `security_log_day_20261116` for a day. */
  readonly name: string;
  /** Lowest id of the range, included. */
  readonly from: string;
  /** Lowest id of the next range, excluded. */
  readonly to: string;
}

/** The lowest UUIDv7 of a millisecond: 48 bits of time, the rest zero (RFC 9562 §5.7). */
export function lowestId(milliseconds: number): string {
  const hex = milliseconds.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The partition that holds `milliseconds` since the Unix epoch, or one that is `offset` weeks or days later. */
export function partitionOf(milliseconds: number, offset = 0, unit: LogPartitionUnit = 'week'): LogPartition {
  const { milliseconds: length, origin, prefix } = units[unit];
  const start = origin + (Math.floor((milliseconds - origin) / length) + offset) * length;
  const end = start + length;
  const day = new Date(start).toISOString().slice(0, 10).replaceAll('-', '');
  return { name: `${prefix}${day}`, from: lowestId(start), to: lowestId(end), start, end };
}
