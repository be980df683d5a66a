import { flushed, type Logger } from '../lib/log.ts';

export interface GracefulShutdownOptions {
  /** Ends in order what this process serves. */
  readonly close: () => Promise<void>;
  readonly log: Logger;
  /** The longest that all of it may take. */
  readonly shutdownSeconds: number;
}

/** Begins the end. The process exits with this code when all went well; 0, when left out. */
export type End = (reason: string, exitCode?: number) => void;

/** @returns begins the end, once however often it is called */
export function createGracefulShutdown({ close, log, shutdownSeconds }: GracefulShutdownOptions): End {
  let begun = false;
  return (reason, exitCode = 0) => {
    if (begun) return;
    begun = true;
    log.info({ signal: reason }, 'Stopping: finishing open requests');
    setTimeout(() => {
      log.fatal(
        `Could not stop within SHUTDOWN_SECONDS (${shutdownSeconds}): what waited to be written may be lost`,
      );
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
