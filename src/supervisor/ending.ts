import type { Logger } from '../lib/log.ts';

/**
 * The longest that stopping may take, in milliseconds: far more than open requests are given, so that what waits to be
 * written is written even then.
 */
export const shutdownLimit = 20_000;

/**
 * @param close what ends in order what this process serves
 * @returns begins the end, once however often it is called: the process exits with 0 when `close` went well
 */
export function createEnding(close: () => Promise<void>, log: Logger): (reason: string) => void {
  let begun = false;
  return (reason) => {
    if (begun) return;
    begun = true;
    log.info({ signal: reason }, 'Stopping: finishing open requests');
    setTimeout(() => {
      log.fatal('Could not stop in time: what waited to be written may be lost');
      process.exit(1);
    }, shutdownLimit).unref();
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.fatal({ err: error }, 'Could not close cleanly');
        process.exit(1);
      },
    );
  };
}
