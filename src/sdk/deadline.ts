import { type Failure, failure } from './failure.ts';

/** One signal for a call: it aborts with a {@link Failure} as its reason, on time running out or the caller's wish. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Stops the timer and the listening; call it when the call is over. */
  end(): void;
}

/**
 * @param timeoutMs milliseconds from now
 * @param given the caller's signal. JavaScript can pass anything: what is none aborts the call, which would otherwise go
 *   on after its caller wanted it ended
 */
export function startDeadline(timeoutMs: number, given: AbortSignal | null | undefined): Deadline {
  const callers = isSignal(given) ? given : undefined;
  const controller = new AbortController();
  const onAbort = () => {
    controller.abort(failure('aborted', 'The call was aborted', { cause: callers?.reason }));
  };
  const timer = setTimeout(() => {
    controller.abort(failure('timeout', `No answer within ${timeoutMs} ms`));
  }, timeoutMs);
  if (given !== undefined && given !== null && callers === undefined) {
    controller.abort(failure('aborted', 'The call was not made: its signal must be an AbortSignal'));
  }
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

/** By its methods: a program can have AbortSignals of more than one realm, or of a polyfill. */
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
