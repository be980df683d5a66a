import { setTimeout as sleep } from 'node:timers/promises';

/** Waits so many milliseconds, or until the signal; keeps no process alive. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
