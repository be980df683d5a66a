import type { Socket } from 'node:net';
import type { Logger } from '../lib/log.ts';
import { restartDelay, soonLost } from './restart-delay.ts';
import { WorkerStartError } from './start-failure.ts';
import { createWorkerMetrics } from './worker-metrics.ts';
import { startWorker, type WorkerEnd, type WorkerProcess } from './worker-process.ts';

/** A fixed number of workers, each in a numbered place. A worker that ends is replaced. */
export interface WorkerPool {
  /** Sends a connection to a worker, or queues it until one is ready. */
  hand(connection: Socket): void;
  /**
   * Shuts all workers down gracefully. Call it after the listener is closed.
   * @returns whether every worker ended cleanly
   */
  stop(): Promise<boolean>;
  /** One page with the metrics of all workers and of the supervisor. */
  metrics(): Promise<string>;
  /** Kills all workers. */
  kill(): void;
}

interface Place {
  readonly number: number;
  /** The number of its process among all processes started so far. */
  serial: number;
  worker: WorkerProcess | null;
  timesLost: number;
  restart: NodeJS.Timeout | undefined;
}

/**
 * Starts the workers.
 * @returns the pool, and a promise that resolves when all workers are ready. It rejects if a worker ends before that; only
 *   later are workers restarted
 */
export function startWorkerPool(
  size: number,
  log: Logger,
): { readonly workers: WorkerPool; readonly ready: Promise<void> } {
  const places = Array.from(
    { length: size },
    (_, index): Place => ({ number: index + 1, serial: 0, worker: null, timesLost: 0, restart: undefined }),
  );
  const waiting: Socket[] = [];
  let allReady = (): void => {};
  let startFailed = (_error: Error): void => {};
  const ready = new Promise<void>((resolve, reject) => {
    allReady = resolve;
    startFailed = reject;
  });
  let phase: 'starting' | 'serving' | 'stopping' = 'starting';
  let endedWell = true;
  let onAllEnded = (): void => {};
  let turn = 0;
  let started = 0;
  const metrics = createWorkerMetrics(size);

  /** Round robin among the ready workers with the fewest untaken connections, so that a stuck worker gets no more. */
  function choose(): WorkerProcess | null {
    turn = (turn + 1) % size;
    let chosen: WorkerProcess | null = null;
    for (let step = 0; step < size; step += 1) {
      const worker = places[(turn + step) % size]?.worker;
      if (worker?.isReady && (chosen === null || worker.untaken < chosen.untaken)) chosen = worker;
    }
    return chosen;
  }

  function hand(connection: Socket): void {
    const worker = choose();
    if (worker !== null) worker.hand(connection);
    else if (phase === 'stopping') connection.destroy();
    else waiting.push(connection);
  }

  function fill(place: Place): void {
    started += 1;
    place.serial = started;
    place.worker = startWorker(place.number, {
      ready: () => {
        log.info({ worker: place.number, pid: place.worker?.pid }, 'A worker is ready');
        for (const connection of waiting.splice(0)) hand(connection);
        if (phase === 'starting' && places.every(({ worker }) => worker?.isReady)) {
          phase = 'serving';
          allReady();
        }
      },
      ended: (end) => ended(place, end),
    });
  }

  function ended(place: Place, end: WorkerEnd): void {
    const pid = place.worker?.pid;
    place.worker = null;
    metrics.ended(place.serial);
    for (const connection of end.untaken) hand(connection);
    if (phase === 'stopping') {
      endedWell &&= end.code === 0 || end.servedMilliseconds === null;
      if (places.every(({ worker }) => worker === null)) onAllEnded();
    } else if (phase === 'starting') {
      startFailed(
        new WorkerStartError(end.failure ?? `A worker ended during its start: ${how(end)}.`, end.code || 1),
      );
    } else {
      place.timesLost = soonLost(place.timesLost, end.servedMilliseconds);
      const delay = restartDelay(place.timesLost);
      metrics.lost();
      log.error(
        { worker: place.number, pid, reason: end.failure ?? how(end), restartMilliseconds: delay },
        'A worker ended unexpectedly and will be restarted',
      );
      place.restart = setTimeout(() => fill(place), delay);
    }
  }

  for (const place of places) fill(place);
  const workers: WorkerPool = {
    hand,
    stop: async () => {
      phase = 'stopping';
      for (const { worker, restart } of places) {
        clearTimeout(restart);
        worker?.stop();
      }
      for (const connection of waiting.splice(0)) connection.destroy();
      if (places.some(({ worker }) => worker !== null)) {
        await new Promise<void>((resolve) => {
          onAllEnded = resolve;
        });
      }
      return endedWell;
    },
    metrics: () =>
      metrics.page(
        places.flatMap(({ serial, worker }) => (worker === null ? [] : [{ serial, ask: worker.metrics }])),
      ),
    kill: () => {
      for (const { worker } of places) worker?.kill();
    },
  };
  return { workers, ready };
}

const how = ({ code, signal }: WorkerEnd): string =>
  signal === null ? `it exited with ${code}` : `it was killed by ${signal}`;
