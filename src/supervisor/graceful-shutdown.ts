import { flushed, type Logger } from '../lib/log.ts';

export interface GracefulShutdownOptions {
  /** Finishes open requests and closes everything. */
  readonly close: () => Promise<void>;
  readonly log: Logger;
  /** Graceful-shutdown timeout. After it, the process exits with 1. */
  readonly shutdownSeconds: number;
}

/** Starts the shutdown. After a clean one, the process exits with `exitCode`, by default 0. */
export type End = (reason: string, exitCode?: number) => void;

/** @returns a function that starts the shutdown; later calls have no effect */
export function createGracefulShutdown({ close, log, shutdownSeconds }: GracefulShutdownOptions): End {
  let begun = false;
  return (reason, exitCode = 0) => {
    if (begun) return;
    begun = true;
    log.info({ signal: reason }, 'Stopping: finishing open requests');
    setTimeout(() => {
      log.fatal(`Could not stop within SHUTDOWN_SECONDS (${shutdownSeconds}): buffered data may be lost`);
      process.exit(1);
    }, shutdownSeconds * 1000).unref();
    close().then(
      () => void flushed(log).then(() => process.exit(exitCode)),
      (error: unknown) => {
        log.fatal({ err: error }, 'Could not close cleanly');
        process.exit(1);
      },
    );
  };
}
