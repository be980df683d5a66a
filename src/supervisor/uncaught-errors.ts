import type { Logger } from '../lib/log.ts';
import { countUnhandledRejection } from '../telemetry/process-metrics.ts';

/**
 * Hears what nothing else has heard, and says it at once.
 *
 * After an exception that nobody caught, nobody knows what state it left behind: the process ends in order, and another
 * takes its place. A rejection that nobody listened to has ended its own chain of calls and nothing else, as a promise
 * that was forgotten in a library: ending for it would let one stray promise refuse every customer. It is counted, to
 * be alerted on (`latchkey_unhandled_rejections_total`).
 * @param end ends the process with 1; it is asked once
 */
export function handleUncaughtErrors(log: Logger, end: () => void): void {
  let ending = false;
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'An exception that nothing caught: this process ends');
    if (ending) return;
    ending = true;
    end();
  });
  process.on('unhandledRejection', (reason) => {
    countUnhandledRejection();
    log.fatal({ err: reason }, 'A rejection that nothing listened to: this is a fault; the process goes on');
  });
}
