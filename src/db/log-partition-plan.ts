import { type LogPartition, type LogPartitionUnit, partitionOf, type TimeRange } from './log-partition.ts';

/** A partition of the log that exists, with the range that PostgreSQL has for it. */
export interface ExistingPartition extends TimeRange {
  readonly name: string;
}

export interface PartitionPlan {
  /** Empty future partitions of the other unit, which are replaced. */
  readonly drop: readonly ExistingPartition[];
  readonly create: readonly LogPartition[];
}

export interface PlanOptions {
  readonly now: number;
  readonly unit: LogPartitionUnit;
  readonly existing: readonly ExistingPartition[];
  /** Names of partitions that have entries. They stay as they are. */
  readonly used?: ReadonlySet<string>;
}

/** How many weeks or days ahead partitions are created. Later entries go to the DEFAULT partition. */
const ahead = { week: 4, day: 14 } as const;

/**
 * Plans the partitions from the last week or day to some ahead. Existing partitions keep their ranges, whatever unit they
 * were created with, unless they begin later than now and are empty: LOG_PARTITIONS has changed. A week of which some
 * days have partitions gets partitions for its other days.
 */
export function planPartitions({ now, unit, existing, used = new Set() }: PlanOptions): PartitionPlan {
  const drop: ExistingPartition[] = [];
  const create: LogPartition[] = [];
  let kept = existing;
  for (let offset = -1; offset <= ahead[unit]; offset++) {
    const wanted = partitionOf(now, offset, unit);
    const inTheWay = kept.filter((each) => overlap(each, wanted));
    if (inTheWay.some(({ start, end }) => start === wanted.start && end === wanted.end)) continue;
    if (inTheWay.every(({ name, start }) => start > now && !used.has(name))) {
      drop.push(...inTheWay);
      kept = kept.filter((each) => !inTheWay.includes(each));
      create.push(wanted);
    } else {
      create.push(...daysOf(wanted).filter((day) => !inTheWay.some((each) => overlap(each, day))));
    }
  }
  return { drop, create };
}

/** The partition that a time lacks; null if a partition has its range. */
export function gapAt(
  time: number,
  unit: LogPartitionUnit,
  existing: readonly TimeRange[],
): LogPartition | null {
  if (existing.some(({ start, end }) => start <= time && time < end)) return null;
  const wanted = partitionOf(time, 0, unit);
  return existing.some((each) => overlap(each, wanted)) ? partitionOf(time, 0, 'day') : wanted;
}

/** Up to which time partitions follow each other without a gap, from `now` on. */
export function coveredUntil(now: number, existing: readonly TimeRange[]): number {
  let until = now;
  for (const { start, end } of existing.toSorted((one, other) => one.start - other.start)) {
    if (start <= until && end > until) until = end;
  }
  return until;
}

const overlap = (one: TimeRange, other: TimeRange): boolean => one.start < other.end && other.start < one.end;

function daysOf({ start, end }: TimeRange): LogPartition[] {
  const days: LogPartition[] = [];
  for (let time = start; time < end; ) {
    const day = partitionOf(time, 0, 'day');
    days.push(day);
    time = day.end;
  }
  return days;
}
