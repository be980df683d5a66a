import { AggregatorRegistry, type Registry } from 'prom-client';

/** A metric family with its values, in the form sent between processes. */
export interface MetricData {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  /** How the values of several processes are combined. */
  readonly aggregator: string;
  readonly values: readonly {
    readonly value: number;
    readonly labels: Readonly<Record<string, string | number | undefined>>;
    /** Only for histograms, whose lines have different names. */
    readonly metricName?: string | undefined;
  }[];
}

/** All metrics of a process. */
export type ProcessMetrics = readonly MetricData[];

export const readRegistry = async (registry: Registry): Promise<ProcessMetrics> =>
  // At run time prom-client's `type` is a string, although it is declared as an enum.
  (await registry.getMetricsAsJSON()).map((metric) => ({ ...metric, type: String(metric.type) }));

/** Combines the metrics of several processes into one page in which counters never decrease. */
export interface WorkersPage {
  /** Stores a worker's latest metrics. */
  report(worker: number, metrics: ProcessMetrics): void;
  /** Records that a worker has ended; its counts stay in the totals. */
  ended(worker: number): void;
  /** @param current workers whose latest report is up to date; only the counters of other workers are included */
  page(current: ReadonlySet<number>, supervisor: Registry): Promise<string>;
}

/**
 * Prometheus treats a counter that decreases as restarted and adds its whole remaining value. If an ended or
 * unresponsive worker were simply missing from the sum, every rate would jump.
 */
export function createWorkersPage(): WorkersPage {
  const latest = new Map<number, ProcessMetrics>();
  const endedWorkers = new Set<number>();
  let past: ProcessMetrics = [];

  return {
    report: (worker, metrics) => {
      // A worker's last report may arrive after its end, when its counts are already in `past`.
      if (!endedWorkers.has(worker)) latest.set(worker, metrics);
    },
    ended: (worker) => {
      endedWorkers.add(worker);
      const last = latest.get(worker);
      latest.delete(worker);
      if (last !== undefined) past = [...past, ...countsOf(last)];
    },
    page: async (current, supervisor) => {
      // Summed up here because it is asynchronous, and `ended` is not.
      if (past.length > 0) past = await readRegistry(AggregatorRegistry.aggregate([past]));
      const workers = Array.from(latest, ([worker, metrics]) =>
        current.has(worker) ? metrics : countsOf(metrics),
      );
      const all = [...workers, past, await readRegistry(supervisor)];
      return AggregatorRegistry.aggregate(all).metrics();
    },
  };
}

/** Metrics that only increase. */
const countsOf = (metrics: ProcessMetrics): ProcessMetrics =>
  metrics.filter(({ type }) => type === 'counter' || type === 'histogram');
