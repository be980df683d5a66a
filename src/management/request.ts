import { type RootFields, readAnswer } from './answer.ts';
import { backoff, pause, startDeadline } from './deadline.ts';
import type { Operation } from './document.ts';
import { isManagementError, ManagementError } from './errors.ts';
import { post, readWhole } from './http.ts';
import { parseTimeout, type Settings } from './options.ts';

export interface RequestOptions {
  /** Ends the call with ABORTED. */
  readonly signal?: AbortSignal | undefined;
  /** Instead of the client's. */
  readonly timeoutMilliseconds?: number | undefined;
}

const accept = 'application/graphql-response+json, application/json;q=0.9';
const firstPause = 200;
const longestPause = 5_000;

/**
 * Sends a query or a mutation and answers its data. A query that failed for a reason that passes is repeated, as often
 * as the settings say and as long as the time limit leaves; a mutation is not, as it may have been done.
 * @throws {ManagementError}
 */
export async function request(
  settings: Settings,
  operation: Operation,
  variables: unknown,
  options: RequestOptions = {},
): Promise<RootFields> {
  const { signal, timeoutMilliseconds = settings.timeoutMilliseconds } = options;
  if (operation.kind === 'subscription') throw new TypeError('A subscription is followed: use follow()');
  const deadline = startDeadline(parseTimeout('timeoutMilliseconds', timeoutMilliseconds), signal);
  const body = { query: operation.text, variables };
  try {
    for (let failures = 1; ; failures += 1) {
      try {
        const response = await post(settings, body, accept, deadline.signal);
        return readAnswer(await readWhole(response, deadline.signal));
      } catch (error) {
        if (operation.kind === 'mutation') throw mayHaveBeenDone(error);
        const wait = failures > settings.retries ? undefined : pauseAfter(error, failures);
        if (wait === undefined || wait >= deadline.left()) throw error;
        await pause(wait, deadline.signal);
      }
    }
  } finally {
    deadline.end();
  }
}

/** Milliseconds to wait before a query is repeated; undefined for an error that repeating does not mend. */
function pauseAfter(error: unknown, failures: number): number | undefined {
  if (!isManagementError(error, 'NETWORK', 'UNAVAILABLE', 'RATE_LIMITED')) return undefined;
  const asked = error.retryAfterSeconds === undefined ? undefined : error.retryAfterSeconds * 1000;
  if (error.code === 'RATE_LIMITED') return asked;
  return Math.max(asked ?? 0, backoff(failures, firstPause, longestPause));
}

/** Says what a lost answer means: the message of a failed mutation is often all that its caller reads. */
function mayHaveBeenDone(error: unknown): unknown {
  if (!isManagementError(error, 'NETWORK', 'TIMEOUT', 'ABORTED')) return error;
  const message = `${error.message}. The change may have been made all the same: look before you repeat it.`;
  return new ManagementError(error.code, message, { cause: error.cause });
}
