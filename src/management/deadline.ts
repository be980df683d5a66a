import { ManagementError } from './errors.ts';

/** One signal for a call: it aborts with a ManagementError as its reason, on time running out or the caller's wish. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Milliseconds that are left. */
  left(): number;
  /** Stops the timer and the listening; call it when the call is over. */
  end(): void;
}

/**
 * @param milliseconds from now
 * @param callers the caller's signal
 */
export function startDeadline(milliseconds: number, callers: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const onAbort = () => controller.abort(aborted(callers));
  const timer = setTimeout(() => {
    controller.abort(new ManagementError('TIMEOUT', `No whole answer within ${milliseconds} ms`));
  }, milliseconds);
  const end = performance.now() + milliseconds;
  if (callers?.aborted) onAbort();
  else callers?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    left: () => end - performance.now(),
    end() {
      clearTimeout(timer);
      callers?.removeEventListener('abort', onAbort);
    },
  };
}

export const aborted = (signal: AbortSignal | undefined) =>
  new ManagementError('ABORTED', 'The call was aborted', { cause: signal?.reason });

/**
 * The promise's outcome, or a rejection with the signal's reason as soon as that aborts: some implementations of
 * fetch ignore their signal.
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Waits; rejects with the signal's reason as soon as that aborts. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await untilAborted(
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, milliseconds);
      }),
      signal,
    );
  } finally {
    clearTimeout(timer);
  }
}

/**
 * How long to wait before trying again: twice as long each time, and a random part of that, so that the clients of a
 * service that comes back do not come all at once.
 * @param failures how often it failed in a row, from 1
 */
export function backoff(failures: number, first: number, longest: number): number {
  const whole = Math.min(longest, first * 2 ** Math.min(failures - 1, 30));
  return whole * (0.5 + Math.random() / 2);
}
