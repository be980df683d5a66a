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
}

const accept = 'application/graphql-response+json, application/json;q=0.9';
const firstPause = 200;
const maxPause = 5_000;

/**
 * Sends a query or mutation and returns its data. A query that fails with a transient error is retried, up to the
 * configured number of times and within the timeout. Mutations are not retried, because they may have been executed.
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
  try {
    for (let failures = 1; ; failures += 1) {
      try {
        const response = await post(settings, body, accept, deadline.signal);
        return readAnswer(await readWhole(response, deadline.signal));
      } catch (error) {
        if (operation.kind === 'mutation') throw withExecutionWarning(error);
        const wait = failures > settings.retries ? undefined : pauseAfter(error, failures);
        if (wait === undefined || wait >= deadline.left()) throw error;
        await pause(wait, deadline.signal);
      }
    }
  } finally {
    deadline.end();
  }
}

/** Milliseconds to wait before retrying a query; undefined if a retry would not help. */
function pauseAfter(error: unknown, failures: number): number | undefined {
  if (!isManagementError(error, 'NETWORK', 'UNAVAILABLE', 'RATE_LIMITED')) return undefined;
  const retryAfter = error.retryAfterSeconds === undefined ? undefined : error.retryAfterSeconds * 1000;
  if (error.code === 'RATE_LIMITED') return retryAfter;
  return Math.max(retryAfter ?? 0, backoff(failures, firstPause, maxPause));
}

/** Adds to a failed mutation's message that it may have been executed, because callers often read only the message. */
function withExecutionWarning(error: unknown): unknown {
  if (!isManagementError(error, 'NETWORK', 'TIMEOUT', 'ABORTED')) return error;
  const message = `${error.message}. The change may still have been made: check before you retry it.`;
  return new ManagementError(error.code, message, { cause: error.cause });
}
