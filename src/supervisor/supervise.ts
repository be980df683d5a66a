import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { Config } from '../config.ts';
import { openDatabase } from '../db/database.ts';
import { flushed, type Logger } from '../lib/log.ts';
import { type MetricsServer, startMetricsServer } from '../telemetry/metrics-server.ts';
import type { End } from './graceful-shutdown.ts';
import { onStopSignal } from './stop-signal.ts';
import { handleUncaughtErrors } from './uncaught-errors.ts';
import { startWorkerPool, type WorkerPool } from './worker-pool.ts';

/** What may wait for workers at once, so that a flood while there are none does not use up the file descriptors. */
const mostWaiting = 4_096;
/** Workers end by themselves within SHUTDOWN_SECONDS; one that has not, so many milliseconds later, is stuck. */
const stuckAfter = 250;

/**
 * Brings the database up to date, listens, starts the workers, and keeps them running until the process is told to stop.
 * @returns when all workers answer
 * @throws {DatabaseStartError | WorkerStartError | Error} WorkerStartError with what a worker said; EADDRINUSE and its
 *   like; in any case with nothing left running
 */
export async function supervise(config: Config, log: Logger): Promise<void> {
  const { database: address, databaseConnections: maxConnections } = config;
  const database = await openDatabase(address, { log, maxConnections });
  await database.close();

  const listener = createServer({ pauseOnConnect: true });
  listener.maxConnections = mostWaiting;
  listener.listen(config.port, config.host);
  await once(listener, 'listening');

  const { crew, ready } = startWorkerPool(config.workers, log);
  let metrics: MetricsServer | null = null;
  listener.on('connection', crew.hand);
  const stop = createStop(listener, crew, { log, shutdownSeconds: config.shutdownSeconds });
  handleUncaughtErrors(log, () => stop('uncaughtException', 1));
  onStopSignal(stop, () => {
    crew.kill();
    process.exit(1);
  });
  try {
    if (config.metrics !== null) metrics = await startMetricsServer(config.metrics, crew.metrics, log);
    if (metrics !== null) log.info(`Metrics are at ${metrics.url}`);
    await ready;
  } catch (error) {
    listener.close();
    metrics?.close();
    await crew.stop();
    throw error;
  }
}

/** Ends the service in order, and the process with 0 when every worker ended well. */
function createStop(
  listener: Server,
  crew: WorkerPool,
  { log, shutdownSeconds }: { readonly log: Logger; readonly shutdownSeconds: number },
): End {
  let begun = false;
  return (signal, exitCode = 0) => {
    if (begun) return;
    begun = true;
    log.info({ signal }, 'Stopping: no more connections; the workers finish open requests');
    // Before the workers are told: what was accepted until now is on its way to one that still serves it.
    listener.close();
    setTimeout(
      () => {
        crew.kill();
        log.fatal('Could not stop in time: a worker does not end');
        process.exit(1);
      },
      shutdownSeconds * 1000 + stuckAfter,
    ).unref();
    void crew.stop().then(async (endedWell) => {
      await flushed(log);
      process.exit(endedWell ? exitCode : 1);
    });
  };
}
