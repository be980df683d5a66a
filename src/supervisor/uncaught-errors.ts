import type { Logger } from '../lib/log.ts';
import { countUnhandledRejection } from '../telemetry/process-metrics.ts';

/**
 * Logs uncaught exceptions and unhandled rejections.
 *
 * After an uncaught exception the state is unknown, so the process shuts down gracefully and is replaced. An unhandled
 * rejection has ended only its own chain of calls, such as a forgotten promise in a library. Ending the process for it
 * would let one stray promise refuse every customer, so it is only counted, for alerts
 * (`latchkey_unhandled_rejections_total`).
 * @param end ends the process with 1; called at most once
 */
export function handleUncaughtErrors(log: Logger, end: () => void): void {
  let ending = false;
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'Uncaught exception: this process is shutting down');
    if (ending) return;
    ending = true;
    end();
  });
  process.on('unhandledRejection', (reason) => {
    countUnhandledRejection();
    log.fatal({ err: reason }, 'Unhandled rejection: this is a bug; the process continues');
  });
}
