import { register, single } from '../telemetry/family.ts';
import { createCounts } from '../telemetry/process-metrics.ts';
import { createWorkersPage, type ProcessMetrics } from '../telemetry/workers-page.ts';

/** A worker's process, by its number among all that there have been. */
export interface AskedWorker {
  readonly serial: number;
  /** Null where it does not say in time. */
  readonly ask: () => Promise<ProcessMetrics | null>;
}

export interface CrewMetrics {
  /** A worker ended that was not told to. */
  lost(): void;
  /** A worker's process is gone; what it counted stays counted. */
  ended(serial: number): void;
  /** One page of all workers, and of the supervisor. */
  page(workers: readonly AskedWorker[]): Promise<string>;
}

export function createCrewMetrics(size: number): CrewMetrics {
  const own = createCounts();
  const pages = createWorkersPage();
  let lost = 0;
  let answered = 0;
  register(own, [
    single({
      name: 'latchkey_workers_configured',
      help: 'Workers that there should be.',
      type: 'gauge',
      value: () => size,
    }),
    single({
      name: 'latchkey_workers_answered',
      help: 'Workers that told their part of this page in time. Of others, gauges are missing and counts are old.',
      type: 'gauge',
      value: () => answered,
    }),
    single({
      name: 'latchkey_workers_lost_total',
      help: 'Workers that ended without being told to; another took the place of each.',
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
