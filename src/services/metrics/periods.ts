const hour = 60 * 60;

/** The periods of a history: how many buckets of how many seconds. */
export const metricsPeriods = {
  day: { buckets: 24, bucketSeconds: hour },
  week: { buckets: 28, bucketSeconds: 6 * hour },
  month: { buckets: 30, bucketSeconds: 24 * hour },
} as const;

export const metricsPeriodNames = [
  'day',
  'week',
  'month',
] as const satisfies readonly (keyof typeof metricsPeriods)[];

export type MetricsPeriod = (typeof metricsPeriodNames)[number];

/** Buckets of equal length that follow each other. Each begins at a multiple of its length, in UTC. */
export interface Buckets {
  readonly from: Date;
  /** The end of the last bucket, exclusive. */
  readonly to: Date;
  readonly bucketSeconds: number;
  readonly buckets: number;
}

/** The buckets of a period; the last one contains `now`. */
export function bucketsOf(period: MetricsPeriod, now: Date): Buckets {
  const { buckets, bucketSeconds } = metricsPeriods[period];
  const length = bucketSeconds * 1000;
  const to = (Math.floor(now.getTime() / length) + 1) * length;
  return { from: new Date(to - buckets * length), to: new Date(to), bucketSeconds, buckets };
}

/** Returns the counts of all buckets, with zeros for those that have no row. */
export const inEveryBucket = (
  { from, bucketSeconds, buckets }: Omit<Buckets, 'to'>,
  rows: readonly { readonly bucket: number; readonly count: number }[],
): { readonly startsAt: Date; readonly count: number }[] => {
  const counts = new Map(rows.map(({ bucket, count }) => [bucket, count]));
  return Array.from({ length: buckets }, (_, bucket) => ({
    startsAt: startOf({ from, bucketSeconds }, bucket),
    count: counts.get(bucket) ?? 0,
  }));
};

/** The start of a bucket. */
export const startOf = ({ from, bucketSeconds }: Pick<Buckets, 'from' | 'bucketSeconds'>, bucket: number) =>
  new Date(from.getTime() + bucket * bucketSeconds * 1000);
