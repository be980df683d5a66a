import { type Failure, failure } from './failure.ts';

/** One signal for a call: it aborts with a {@link Failure} as its reason, on time running out or the caller's wish. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Stops the timer and the listening; call it when the call is over. */
  end(): void;
}

/** @param timeoutMs milliseconds from now */
export function startDeadline(timeoutMs: number, callers: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const onAbort = () => {
    controller.abort(failure('aborted', 'The call was aborted', { cause: callers?.reason }));
  };
  const timer = setTimeout(() => {
    controller.abort(failure('timeout', `No answer within ${timeoutMs} ms`));
  }, timeoutMs);
  if (callers?.aborted) onAbort();
  else callers?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      callers?.removeEventListener('abort', onAbort);
    },
  };
}

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

/** The failure to report for something thrown while a signal was watched. */
export function failureOf(thrown: unknown, signal: AbortSignal): Failure {
  if (signal.aborted && isFailure(signal.reason)) return signal.reason;
  return failure('network', 'The service cannot be reached', { cause: thrown });
}

function isFailure(value: unknown): value is Failure {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'failure';
}
