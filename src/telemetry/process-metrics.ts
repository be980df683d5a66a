import { collectDefaultMetrics, Registry } from 'prom-client';
import { version } from '../lib/version.ts';
import { register, single } from './family.ts';

let unhandled = 0;

/** Counts an unhandled promise rejection. */
export function countUnhandledRejection(): void {
  unhandled += 1;
}

/** Metrics that prom-client averages over workers, but whose maximum says more. */
const maxOfWorkers = /^nodejs_eventloop_lag_(p\d+_)?seconds$/;

/**
 * Gauges that prom-client names like counters (in OpenMetrics, `_total` is reserved for counters). They are removed, as
 * `nodejs_active_resources` reports the same by kind.
 */
const misnamedGauges = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
] as const;

let registry: Registry | undefined;

/**
 * Metrics of the process: CPU time, memory, garbage collection, event loop delay. Created once per process, because
 * prom-client's observers cannot be removed.
 */
export function processRegistry(): Registry {
  if (registry !== undefined) return registry;
  registry = createCounts();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamedGauges) registry.removeSingleMetric(name);
  for (const metric of registry.getMetricsAsArray()) {
    if (maxOfWorkers.test(metric.name)) metric.aggregator = 'max';
  }
  return registry;
}

/** The process metrics that a supervisor also reports for itself. */
export function createCounts(): Registry {
  const counts = new Registry();
  register(counts, [
    single({
      name: 'latchkey_unhandled_rejections_total',
      help: 'Unhandled promise rejections. Each one is a bug in the service and is logged.',
      type: 'counter',
      value: () => unhandled,
    }),
    {
      name: 'latchkey_build_info',
      help: 'Always 1; the labels are the versions of the service and of Node.js.',
      type: 'gauge',
      labels: ['version', 'node'],
      ofWorkers: 'first',
      read: () => [{ labels: { version, node: process.versions.node }, value: 1 }],
    },
  ]);
  return counts;
}
