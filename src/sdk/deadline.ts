import { type Failure, failure } from './failure.ts';

/** A call's signal. It aborts on timeout or when the caller's signal aborts, with a {@link Failure} as its reason. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Releases the timer and the listener; call it when the call is over. */
  end(): void;
}

/**
 * @param timeoutMs milliseconds from now
 * @param callerSignal JavaScript callers can pass anything. A value that is not an AbortSignal aborts the call, because
 *   the caller would otherwise be unable to
 */
export function startDeadline(timeoutMs: number, callerSignal: AbortSignal | null | undefined): Deadline {
  const abortable = isSignal(callerSignal) ? callerSignal : undefined;
  const controller = new AbortController();
  const onAbort = () => {
    controller.abort(failure('aborted', 'The call was aborted', { cause: abortable?.reason }));
  };
  const timer = setTimeout(() => {
    controller.abort(failure('timeout', `No answer within ${timeoutMs} ms`));
  }, timeoutMs);
  if (callerSignal !== undefined && callerSignal !== null && abortable === undefined) {
    controller.abort(failure('aborted', 'The call was not made: signal must be an AbortSignal'));
  }
  if (abortable?.aborted) onAbort();
  else abortable?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      abortable?.removeEventListener('abort', onAbort);
    },
  };
}

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

/** Converts an exception to a failure: the signal's reason if it aborted, otherwise `network`. */
export function failureOf(thrown: unknown, signal: AbortSignal): Failure {
  if (signal.aborted && isFailure(signal.reason)) return signal.reason;
  return failure('network', 'The service is unreachable', { cause: thrown });
}

/** Checks for methods instead of the class: AbortSignals can come from another realm or a polyfill. */
function isSignal(value: unknown): value is AbortSignal {
  return (
    typeof value === 'object' &&
    value !== null &&
    'addEventListener' in value &&
    typeof value.addEventListener === 'function' &&
    'removeEventListener' in value &&
    typeof value.removeEventListener === 'function'
  );
}

function isFailure(value: unknown): value is Failure {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'failure';
}
