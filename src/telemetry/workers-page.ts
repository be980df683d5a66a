import { AggregatorRegistry, type Registry } from 'prom-client';

/** A family with its values, as one process tells them to another. */
export interface MetricData {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  /** How the values of several processes become one. */
  readonly aggregator: string;
  readonly values: readonly {
    readonly value: number;
    readonly labels: Readonly<Record<string, string | number | undefined>>;
    /** Of a histogram, whose lines have names of their own. */
    readonly metricName?: string | undefined;
  }[];
}

/** All that a process knows. */
export type ProcessMetrics = readonly MetricData[];

export const readRegistry = async (registry: Registry): Promise<ProcessMetrics> =>
  // In prom-client's data the type is a text, whatever its declarations say.
  (await registry.getMetricsAsJSON()).map((metric) => ({ ...metric, type: String(metric.type) }));

/** Makes one page of several processes, in which no counter ever falls. */
export interface WorkersPage {
  /** A worker's latest. */
  told(worker: number, metrics: ProcessMetrics): void;
  /** A worker has ended: what it has counted stays counted. */
  ended(worker: number): void;
  /** @param answered of which worker what it told last is what it is now: of others, only counts are shown */
  page(answered: ReadonlySet<number>, supervisor: Registry): Promise<string>;
}

/**
 * Prometheus takes a counter that falls for a process that has begun anew, and adds all that is left of it: were a
 * worker that ends, or one that is too busy to answer, simply missing in the sum, every rate would leap.
 */
export function createWorkersPage(): WorkersPage {
  const latest = new Map<number, ProcessMetrics>();
  const gone = new Set<number>();
  let past: ProcessMetrics = [];

  return {
    told: (worker, metrics) => {
      // What one said last may be read when its end is known: it is counted then.
      if (!gone.has(worker)) latest.set(worker, metrics);
    },
    ended: (worker) => {
      gone.add(worker);
      const last = latest.get(worker);
      latest.delete(worker);
      if (last !== undefined) past = [...past, ...countsOf(last)];
    },
    page: async (answered, supervisor) => {
      // Summed up here and not when a worker ends, which nothing waits for.
      if (past.length > 0) past = await readRegistry(AggregatorRegistry.aggregate([past]));
      const workers = Array.from(latest, ([worker, metrics]) =>
        answered.has(worker) ? metrics : countsOf(metrics),
      );
      const all = [...workers, past, await readRegistry(supervisor)];
      return AggregatorRegistry.aggregate(all).metrics();
    },
  };
}

/** What only grows. */
const countsOf = (metrics: ProcessMetrics): ProcessMetrics =>
  metrics.filter(({ type }) => type === 'counter' || type === 'histogram');
