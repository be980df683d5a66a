import { Registry } from 'prom-client';
import { type MetricFamily, register } from './family.ts';
import { processRegistry } from './process-metrics.ts';
import { createRequestMetrics, type RequestMetrics } from './request-metrics.ts';
import { type ProcessMetrics, readRegistry } from './workers-page.ts';

/** What a service counts of itself, and how it is read. */
export interface Telemetry {
  readonly requests: RequestMetrics;
  /** Adds what the page shows. */
  add(families: readonly MetricFamily[]): void;
  /** The page, for a process that serves it itself. */
  page(): Promise<string>;
  /** The same as data, for a supervisor that makes one page of several processes. */
  asData(): Promise<ProcessMetrics>;
}

export function createTelemetry(): Telemetry {
  const own = new Registry();
  const requests = createRequestMetrics();
  requests.register(own);
  // The process is not looked at until somebody asks, as looking costs.
  const all = () => Registry.merge([own, processRegistry()]);
  return {
    requests,
    add: (families) => register(own, families),
    page: () => all().metrics(),
    asData: () => readRegistry(all()),
  };
}
