import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until the time has passed or the signal aborts. Does not keep the process alive. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
