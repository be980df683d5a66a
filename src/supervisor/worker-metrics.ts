import { register, single } from '../telemetry/family.ts';
import { createCounts } from '../telemetry/process-metrics.ts';
import { createWorkersPage, type ProcessMetrics } from '../telemetry/workers-page.ts';

/** A worker's process, with its number among all processes started so far. */
export interface AskedWorker {
  readonly serial: number;
  /** Resolves to null if the worker does not answer in time. */
  readonly ask: () => Promise<ProcessMetrics | null>;
}

export interface WorkerMetrics {
  /** Counts a worker that ended unexpectedly. */
  lost(): void;
  /** A worker's process has ended. Its counters remain part of the sums. */
  ended(serial: number): void;
  /** One page with the metrics of all workers and the supervisor. */
  page(workers: readonly AskedWorker[]): Promise<string>;
}

export function createWorkerMetrics(size: number): WorkerMetrics {
  const own = createCounts();
  const pages = createWorkersPage();
  let lost = 0;
  let answered = 0;
  register(own, [
    single({
      name: 'latchkey_workers_configured',
      help: 'Configured number of workers.',
      type: 'gauge',
      value: () => size,
    }),
    single({
      name: 'latchkey_workers_answered',
      help: 'Workers that answered in time for this page. Of the others, gauges are missing and counters are outdated.',
      type: 'gauge',
      value: () => answered,
    }),
    single({
      name: 'latchkey_workers_lost_total',
      help: 'Workers that ended unexpectedly and were restarted.',
      type: 'counter',
      value: () => lost,
    }),
  ]);
  return {
    lost: () => {
      lost += 1;
    },
    ended: pages.ended,
    page: async (workers) => {
      const told = new Set<number>();
      await Promise.all(
        workers.map(async ({ serial, ask }) => {
          const metrics = await ask();
          if (metrics === null) return;
          pages.report(serial, metrics);
          told.add(serial);
        }),
      );
      answered = told.size;
      return pages.page(told, own);
    },
  };
}
