/** What the service held at a moment. */
export interface HeldMemory {
  /** Since the soak began. */
  readonly minutes: number;
  /** Bytes, after its garbage was collected. */
  readonly heapUsed: number;
}

export interface Growth {
  /** Bytes a minute, by the line that fits the samples best. */
  readonly perMinute: number;
  /** How much that comes to over the time of the samples, beside what is allowed. */
  readonly grown: number;
  readonly allowed: number;
  readonly isFlat: boolean;
}

/** Caches fill at first: what comes before this share of the time says nothing. */
const warmUpShare = 1 / 3;
/** What a collection leaves lying differs by so much from one to the next: bytes, and a share of all. */
const noise = { bytes: 6 * 2 ** 20, share: 0.1 } as const;

/** Whether memory grows, by the slope of what was held after the warm-up (least squares). */
export function growthOf(samples: readonly HeldMemory[]): Growth {
  const last = samples.at(-1)?.minutes ?? 0;
  const counted = samples.filter(({ minutes }) => minutes >= last * warmUpShare);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const middle = mean(counted.map(({ minutes }) => minutes));
  const level = mean(counted.map(({ heapUsed }) => heapUsed));
  const spread = counted.reduce((sum, { minutes }) => sum + (minutes - middle) ** 2, 0);
  const together = counted.reduce(
    (sum, { minutes, heapUsed }) => sum + (minutes - middle) * (heapUsed - level),
    0,
  );
  const perMinute = spread === 0 ? 0 : together / spread;
  const grown = perMinute * (last - (counted[0]?.minutes ?? last));
  const allowed = noise.bytes + noise.share * level;
  return { perMinute, grown, allowed, isFlat: grown <= allowed };
}
