import { collectDefaultMetrics, Registry } from 'prom-client';
import { version } from '../lib/version.ts';
import { register, single } from './family.ts';

let unhandled = 0;

/** Counts a promise that was rejected, and that nobody had listened to. */
export function countUnhandledRejection(): void {
  unhandled += 1;
}

/** What prom-client averages, and what says more of a crew of workers by its worst. */
const worstOfWorkers = /^nodejs_eventloop_lag_(p\d+_)?seconds$/;

/**
 * Gauges that prom-client gives a counter's name (OpenMetrics: `_total` is a counter's). `nodejs_active_resources` says
 * the same, by kind.
 */
const misnamedGauges = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
] as const;

let registry: Registry | undefined;

/**
 * What is known of the process: processor time, memory, garbage collection, the delay of the event loop. One for the
 * process, as what it listens to cannot be let go of again.
 */
export function processRegistry(): Registry {
  if (registry !== undefined) return registry;
  registry = createCounts();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamedGauges) registry.removeSingleMetric(name);
  for (const metric of registry.getMetricsAsArray()) {
    if (worstOfWorkers.test(metric.name)) metric.aggregator = 'max';
  }
  return registry;
}

/** The part of it that a supervisor, too, has to tell of itself. */
export function createCounts(): Registry {
  const counts = new Registry();
  register(counts, [
    single({
      name: 'latchkey_unhandled_rejections_total',
      help: 'Promises that were rejected and that nothing had listened to: each is a fault of the program, and in its log.',
      type: 'counter',
      value: () => unhandled,
    }),
    {
      name: 'latchkey_build_info',
      help: 'Always 1: which version of the service this is, on which version of Node.js.',
      type: 'gauge',
      labels: ['version', 'node'],
      ofWorkers: 'first',
      read: () => [{ labels: { version, node: process.versions.node }, value: 1 }],
    },
  ]);
  return counts;
}
