import type { LeaseProblem } from './leases/lease-problem.ts';

/**
 * Why there is no verdict. A failure says nothing about the license; the program's author decides how to handle it.
 *
 * | reason | cause | remedy |
 * |---|---|---|
 * | `network` | no connection, a lost connection, or a redirect | check the network |
 * | `timeout` | no complete response within `timeoutMs` | retry later |
 * | `aborted` | the caller's signal aborted, or is not an AbortSignal | |
 * | `rate-limited` | HTTP 429 | wait for `retryAfterSeconds` |
 * | `unavailable` | HTTP 5xx | retry later |
 * | `server-rejected` | an unsigned refusal, such as APP_DISABLED, APP_OUTDATED or IP_BANNED; see `code` | depends on `code` |
 * | `untrusted-answer` | the response failed a check of SPEC §7, so it may not come from the service | check which server responds |
 * | `no-lease` | there is no lease that can be used; see `lease` | a network connection |
 * | `clock` | the device's clock and the server's differ by more than 60 seconds | set the clock |
 */
export type FailureReason =
  | 'network'
  | 'timeout'
  | 'aborted'
  | 'rate-limited'
  | 'unavailable'
  | 'server-rejected'
  | 'untrusted-answer'
  | 'no-lease'
  | 'clock';

export interface Failure {
  readonly kind: 'failure';
  readonly reason: FailureReason;
  /** The code of an error of the service, if it sent one. */
  readonly code?: string;
  /** Set if the service has signed that it did not judge the request. */
  readonly signed?: true;
  /** Why no lease stands in for the answer, if the client uses leases. */
  readonly lease?: LeaseProblem;
  /** For people. If `code` is set, this is the server's text. */
  readonly message: string;
  /** Seconds to wait before the next request, if the server sent `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** The underlying error, for logs. */
  readonly cause?: unknown;
}

export function failure(
  reason: FailureReason,
  message: string,
  more: Pick<Failure, 'code' | 'signed' | 'lease' | 'retryAfterSeconds' | 'cause'> = {},
): Failure {
  return { kind: 'failure', reason, message, ...more };
}

/** A failure for a response that did not pass the checks of SPEC §7. */
export function untrusted(message: string): Failure {
  return failure('untrusted-answer', message);
}
