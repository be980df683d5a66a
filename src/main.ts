import { loadConfig } from './config.ts';
import { createLogger, formatLines } from './lib/log.ts';
import { announce } from './supervisor/announce.ts';
import { createGracefulShutdown } from './supervisor/graceful-shutdown.ts';
import { workerArgument } from './supervisor/messages.ts';
import { describeStartFailure, WorkerStartError } from './supervisor/start-failure.ts';
import { onStopSignal } from './supervisor/stop-signal.ts';
import { handleUncaughtErrors } from './supervisor/uncaught-errors.ts';
import { unknownVariables } from './unknown-variables.ts';

// The service is imported only in processes that run it; the supervisor does not need it.
async function main(): Promise<void> {
  const config = loadConfig(process.env);
  // Human-readable lines on a terminal, JSON otherwise.
  if (process.stdout.isTTY) {
    const { readableLines } = await import('./lib/readable-lines.ts');
    formatLines(readableLines({ color: process.stdout.hasColors() }));
  }
  const log = createLogger(config.logLevel);
  const [, , role, number] = process.argv;
  const isWorker = role === workerArgument && process.connected;
  if (!isWorker) for (const warning of unknownVariables(process.env)) log.warn(warning);
  if (isWorker) {
    const { work } = await import('./supervisor/work.ts');
    await work(config, log.child({ worker: Number(number) }));
  } else if (config.workers > 1) {
    const { supervise } = await import('./supervisor/supervise.ts');
    await supervise(config, log);
    announce(config, log);
  } else {
    const { startServer } = await import('./server.ts');
    const server = await startServer(config, { log, onFatal: () => process.exit(1) });
    const end = createGracefulShutdown({ close: server.close, log, shutdownSeconds: config.shutdownSeconds });
    handleUncaughtErrors(log, () => end('uncaughtException', 1));
    onStopSignal(end);
    announce(config, log);
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${describeStartFailure(error)}\n`);
  process.exit(error instanceof WorkerStartError ? error.exitCode : 1);
});
