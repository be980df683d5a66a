import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { Config } from '../config.ts';
import { openDatabase } from '../db/database.ts';
import { acceptWaiting } from '../lib/drain.ts';
import { flushed, type Logger } from '../lib/log.ts';
import { type MetricsServer, startMetricsServer } from '../telemetry/metrics-server.ts';
import type { End } from './graceful-shutdown.ts';
import { onStopSignal } from './stop-signal.ts';
import { handleUncaughtErrors } from './uncaught-errors.ts';
import { startWorkerPool, type WorkerPool } from './worker-pool.ts';

/** The maximum number of open connections, so that a flood without ready workers does not exhaust file descriptors. */
const maxConnections = 4_096;
/** Workers end within SHUTDOWN_SECONDS. A worker that has not ended this many milliseconds later is stuck. */
const stuckAfter = 250;

/**
 * Opens the database once, which migrates it or checks that it is migrated; then listens, starts the workers, and restarts them until the process is stopped. Resolves when all
 * workers are ready.
 * @throws {DatabaseStartError | WorkerStartError | Error} WorkerStartError with a worker's message, or a listen error such
 *   as EADDRINUSE. Nothing is left running.
 */
export async function supervise(config: Config, log: Logger): Promise<void> {
  const database = await openDatabase(config.database, {
    log,
    maxConnections: config.databaseConnections,
    logPartitions: config.logPartitions,
    migrate: config.migrate,
  });
  await database.close();

  const listener = createServer({ pauseOnConnect: true });
  listener.maxConnections = maxConnections;
  listener.listen(config.port, config.host);
  await once(listener, 'listening');

  const { workers, ready } = startWorkerPool(config.workers, log);
  let metrics: MetricsServer | null = null;
  listener.on('connection', workers.hand);
  const stop = createStop(listener, workers, { log, shutdownSeconds: config.shutdownSeconds });
  handleUncaughtErrors(log, () => stop('uncaughtException', 1));
  onStopSignal(stop, () => {
    workers.kill();
    process.exit(1);
  });
  try {
    if (config.metrics !== null) metrics = await startMetricsServer(config.metrics, workers.metrics, log);
    if (metrics !== null) log.info(`Metrics are at ${metrics.url}`);
    await ready;
  } catch (error) {
    listener.close();
    metrics?.close();
    await workers.stop();
    throw error;
  }
}

/** Shuts the service down gracefully. The process exits with 0 if every worker ended cleanly. */
function createStop(
  listener: Server,
  workers: WorkerPool,
  { log, shutdownSeconds }: { readonly log: Logger; readonly shutdownSeconds: number },
): End {
  let begun = false;
  return (signal, exitCode = 0) => {
    if (begun) return;
    begun = true;
    log.info({ signal }, 'Stopping: not accepting connections; workers finish open requests');
    setTimeout(
      () => {
        workers.kill();
        log.fatal('Could not stop in time: killed a worker that did not end');
        process.exit(1);
      },
      shutdownSeconds * 1000 + stuckAfter,
    ).unref();
    void (async () => {
      await acceptWaiting();
      // Before the workers stop: every accepted connection has been sent to a worker that still serves.
      listener.close();
      const endedWell = await workers.stop();
      await flushed(log);
      process.exit(endedWell ? exitCode : 1);
    })();
  };
}
