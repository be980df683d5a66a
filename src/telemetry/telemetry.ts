import { Registry } from 'prom-client';
import { type MetricFamily, register } from './family.ts';
import { processRegistry } from './process-metrics.ts';
import { createRequestMetrics, type RequestMetrics } from './request-metrics.ts';
import { type ProcessMetrics, readRegistry } from './workers-page.ts';

/** The service's metrics. */
export interface Telemetry {
  readonly requests: RequestMetrics;
  /** Adds metric families to the page. */
  add(families: readonly MetricFamily[]): void;
  /** Renders the metrics page, for a process that serves it itself. */
  page(): Promise<string>;
  /** The metrics as data, for a supervisor that combines several processes. */
  asData(): Promise<ProcessMetrics>;
}

export function createTelemetry(): Telemetry {
  const own = new Registry();
  const requests = createRequestMetrics();
  requests.register(own);
  // The process registry is created on the first scrape, because its observers cost CPU time.
  const all = () => Registry.merge([own, processRegistry()]);
  return {
    requests,
    add: (families) => register(own, families),
    page: () => all().metrics(),
    asData: () => readRegistry(all()),
  };
}
