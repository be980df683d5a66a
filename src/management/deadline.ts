import { ManagementError } from './errors.ts';

/** A call's signal. It aborts on timeout or when the caller's signal aborts, with a ManagementError as its reason. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Milliseconds until the timeout. */
  left(): number;
  /** Releases the timer and the listener; call it when the call is over. */
  end(): void;
}

/**
 * @param milliseconds from now
 * @param callerSignal aborts the call with ABORTED
 */
export function startDeadline(milliseconds: number, callerSignal: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const onAbort = () => controller.abort(aborted(callerSignal));
  const timer = setTimeout(() => {
    controller.abort(new ManagementError('TIMEOUT', `No complete response within ${milliseconds} ms`));
  }, milliseconds);
  const end = performance.now() + milliseconds;
  if (callerSignal?.aborted) onAbort();
  else callerSignal?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    left: () => end - performance.now(),
    end() {
      clearTimeout(timer);
      callerSignal?.removeEventListener('abort', onAbort);
    },
  };
}

export const aborted = (signal: AbortSignal | undefined) =>
  new ManagementError('ABORTED', 'The call was aborted', { cause: signal?.reason });

/**
 * Settles like the promise, or rejects with the signal's reason as soon as the signal aborts. Needed because some fetch
 * implementations ignore their signal.
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Waits; rejects with the signal's reason as soon as the signal aborts. */
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
 * Exponential backoff with jitter, so that clients do not all reconnect at once when a service comes back.
 * @param failures consecutive failures so far, from 1
 * @param first milliseconds after the first failure
 * @param max upper limit in milliseconds
 * @returns milliseconds to wait
 */
export function backoff(failures: number, first: number, max: number): number {
  const upper = Math.min(max, first * 2 ** Math.min(failures - 1, 30));
  return upper * (0.5 + Math.random() / 2);
}
