import { Histogram, type Registry } from 'prom-client';
import { type MetricFamily, register, single } from './family.ts';
import type { RequestNotes } from './request-notes.ts';

/** Upper bounds in seconds. A sealed validation takes less than a millisecond, an export several seconds. */
export const durationBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const;

/** `aborted`: the client disconnected before the response started. */
const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx', 'aborted'] as const;
export type StatusClass = (typeof statusClasses)[number];

export const statusClassOf = (status: number | null): StatusClass =>
  status === null ? 'aborted' : (statusClasses[Math.floor(status / 100) - 1] ?? '5xx');

/** Methods that are reported by name. The HTTP parser accepts about three dozen; all others are reported as `other`. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts for one combination of transport, method and route. */
interface Series {
  readonly labels: { readonly transport: string; readonly method: string; readonly route: string };
  readonly byStatus: Map<StatusClass, number>;
  /** Count per bucket, not cumulative. */
  readonly buckets: number[];
  count: number;
  seconds: number;
}

/** Counts requests and measures their durations by transport, method, route and status class. */
export interface RequestMetrics {
  begin(): void;
  /** @param status null if the client disconnected before the response started */
  end(
    notes: Pick<RequestNotes, 'transport' | 'method' | 'route'>,
    status: number | null,
    seconds: number,
  ): void;
  register(registry: Registry): void;
}

export function createRequestMetrics(): RequestMetrics {
  /** Keyed by route first: route strings are constants whose hashes V8 has cached. */
  const byRoute = new Map<string, Map<string, Series>>();
  let open = 0;

  function seriesOf(
    route: string,
    { transport, method }: Pick<RequestNotes, 'transport' | 'method'>,
  ): Series {
    let ofRoute = byRoute.get(route);
    if (ofRoute === undefined) {
      ofRoute = new Map();
      byRoute.set(route, ofRoute);
    }
    const methodLabel = methods.has(method) ? method : 'other';
    const key = `${transport} ${methodLabel}`;
    let series = ofRoute.get(key);
    if (series === undefined) {
      series = {
        labels: { transport, method: methodLabel, route },
        byStatus: new Map(),
        buckets: durationBuckets.map(() => 0),
        count: 0,
        seconds: 0,
      };
      ofRoute.set(key, series);
    }
    return series;
  }

  const all = (): Series[] => [...byRoute.values()].flatMap((ofRoute) => [...ofRoute.values()]);
  const families: readonly MetricFamily[] = [
    {
      name: 'latchkey_requests_total',
      help: 'Completed requests by transport, method, route pattern and status class; aborted: the client disconnected before the response started.',
      type: 'counter',
      labels: ['transport', 'method', 'route', 'status'],
      read: () =>
        all().flatMap(({ labels, byStatus }) =>
          Array.from(byStatus, ([status, value]) => ({ labels: { ...labels, status }, value })),
        ),
    },
    single({
      name: 'latchkey_requests_in_flight',
      help: 'Requests in progress, including open subscription streams.',
      type: 'gauge',
      value: () => open,
    }),
  ];

  return {
    begin: () => {
      open += 1;
    },
    end: (notes, status, seconds) => {
      open -= 1;
      const series = seriesOf(notes.route, notes);
      const statusClass = statusClassOf(status);
      series.byStatus.set(statusClass, (series.byStatus.get(statusClass) ?? 0) + 1);
      const { buckets } = series;
      series.count += 1;
      series.seconds += seconds;
      for (let index = 0; index < durationBuckets.length; index += 1) {
        if (seconds > (durationBuckets[index] ?? 0)) continue;
        buckets[index] = (buckets[index] ?? 0) + 1;
        return;
      }
    },
    register: (registry) => {
      register(registry, families);
      new DurationHistogram(all, registry);
    },
  };
}

const histogramName = 'latchkey_request_duration_seconds';
const histogram = {
  name: histogramName,
  help: 'Request duration, from the request headers to the last byte of the response.',
  labelNames: ['transport', 'method', 'route'],
  buckets: [...durationBuckets],
};

/** A histogram over counts kept elsewhere: prom-client's own allocates an object and a label string per observation. */
class DurationHistogram extends Histogram<string> {
  readonly #read: () => readonly Series[];
  /** Supplies everything except the values; nothing is ever observed in it. */
  readonly #empty = new Histogram<string>({ ...histogram, registers: [] });

  constructor(read: () => readonly Series[], registry: Registry) {
    super({ ...histogram, registers: [registry] });
    this.#read = read;
  }

  override async get() {
    return { ...(await this.#empty.get()), values: this.#read().flatMap(samplesOf) };
  }

  /** Used for the metrics page; `get` is used for other processes. */
  getForPromString() {
    return this.get();
  }
}

function samplesOf({ labels, buckets, count, seconds }: Series) {
  let below = 0;
  return [
    ...durationBuckets.map((le, index) => {
      below += buckets[index] ?? 0;
      return { metricName: `${histogramName}_bucket`, labels: { ...labels, le }, value: below };
    }),
    { metricName: `${histogramName}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
    { metricName: `${histogramName}_sum`, labels, value: seconds },
    { metricName: `${histogramName}_count`, labels, value: count },
  ];
}
