import type { Logger } from '../../lib/log.ts';
import { pause } from '../../lib/pause.ts';
import type { ServiceKeyRing } from './ring.ts';

/** Milliseconds between two looks. A key is destroyed, in memory too, at most this much too late. */
const interval = 60_000;

/**
 * Refreshes the keys now, and then every minute.
 * @returns a function that stops it
 */
export function keepServiceKeysFresh(ring: ServiceKeyRing, log: Logger): () => Promise<void> {
  const stop = new AbortController();
  const running = run(ring, log, stop.signal);
  return async () => {
    stop.abort();
    await running;
  };
}

async function run(ring: ServiceKeyRing, log: Logger, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    try {
      await ring.refresh();
    } catch (error) {
      log.error({ err: error }, 'The keys of protocol version 2 could not be refreshed; will try again');
    }
    await pause(interval, stop);
  }
}
