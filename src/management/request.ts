import { type RootFields, readAnswer } from './answer.ts';
import { backoff, pause, startDeadline } from './deadline.ts';
import type { Operation } from './document.ts';
import { isManagementError, ManagementError } from './errors.ts';
import { post, readWhole } from './http.ts';
import { parseTimeout, type Settings } from './options.ts';

export interface RequestOptions {
  /** Aborts the call with ABORTED. */
  readonly signal?: AbortSignal | undefined;
  /** Overrides the client's timeout. */
  readonly timeoutMilliseconds?: number | undefined;
  /**
   * Of a mutation: 16 to 255 printable ASCII characters that name this change, such as your own order's number. Pass the same
   * one to send the change again from another process; it is made once and has the same result for 24 hours. By default,
   * each call has a new one.
   */
  readonly idempotencyKey?: string | undefined;
}

const accept = 'application/graphql-response+json, application/json;q=0.9';
const transient = ['NETWORK', 'UNAVAILABLE', 'RATE_LIMITED', 'IDEMPOTENCY_IN_PROGRESS'] as const;
/** After these, a mutation may have been carried out. */
const uncertain = ['NETWORK', 'TIMEOUT', 'ABORTED', 'UNAVAILABLE', 'IDEMPOTENCY_IN_PROGRESS'] as const;
const firstPause = 200;
const maxPause = 5_000;

/**
 * Sends a query or mutation and returns its data. If it fails with a transient error, it is retried, up to the configured
 * number of times and within the timeout. A mutation is sent with an Idempotency-Key, so that the service carries it out
 * once.
 * @throws {ManagementError}
 */
export async function request(
  settings: Settings,
  operation: Operation,
  variables: unknown,
  options: RequestOptions = {},
): Promise<RootFields> {
  const { signal, timeoutMilliseconds = settings.timeoutMilliseconds } = options;
  if (operation.kind === 'subscription')
    throw new TypeError('request() does not take subscriptions: use follow()');
  const deadline = startDeadline(parseTimeout('timeoutMilliseconds', timeoutMilliseconds), signal);
  const body = { query: operation.text, variables };
  const idempotencyKey =
    operation.kind === 'mutation' ? (options.idempotencyKey ?? globalThis.crypto.randomUUID()) : undefined;
  let mayBeDone = false;
  try {
    for (let failures = 1; ; ) {
      try {
        const response = await post(settings, body, { accept, idempotencyKey }, deadline.signal);
        return readAnswer(await readWhole(response, deadline.signal));
      } catch (error) {
        mayBeDone ||= isManagementError(error, ...uncertain);
        // An attempt is still running: its answer will come.
        const isRunning = isManagementError(error, 'IDEMPOTENCY_IN_PROGRESS');
        const isLast = !isRunning && failures > settings.retries;
        const wait = isLast ? undefined : pauseAfter(error, failures);
        if (wait === undefined || wait >= deadline.left()) throw error;
        await pause(wait, deadline.signal);
        if (!isRunning) failures += 1;
      }
    }
  } catch (error) {
    throw idempotencyKey !== undefined && mayBeDone ? withExecutionWarning(error, idempotencyKey) : error;
  } finally {
    deadline.end();
  }
}

/** Milliseconds to wait before a retry; undefined if it would not help. */
function pauseAfter(error: unknown, failures: number): number | undefined {
  if (!isManagementError(error, ...transient)) return undefined;
  const retryAfter = error.retryAfterSeconds === undefined ? undefined : error.retryAfterSeconds * 1000;
  if (error.code === 'RATE_LIMITED') return retryAfter;
  return Math.max(retryAfter ?? 0, backoff(failures, firstPause, maxPause));
}

/** Says of a failed mutation that it may have been executed, and how to repeat it. Callers often read only the message. */
function withExecutionWarning(error: unknown, idempotencyKey: string): unknown {
  if (!isManagementError(error)) return error;
  const { code, status, requestId, retryAfterSeconds, errors, data, cause } = error;
  const message = `${error.message}. The change may have been made: check, or repeat the call with the idempotencyKey of this error.`;
  const details = { status, requestId, retryAfterSeconds, errors, data, cause, idempotencyKey };
  return new ManagementError(code, message, details);
}
