/**
 * Why there is no answer. Never a verdict on a license: what a program does without an answer is its author's
 * decision.
 *
 * | reason | what happened | what helps |
 * |---|---|---|
 * | `network` | no connection, a refused redirect, a connection that broke off | a network |
 * | `timeout` | no whole answer within `timeoutMs` | trying again later |
 * | `aborted` | the caller's signal, or what was given for one is none | |
 * | `rate-limited` | HTTP 429 | waiting for `retryAfterSeconds` |
 * | `unavailable` | HTTP 5xx | trying again later |
 * | `server-rejected` | an unsigned refusal, such as APP_DISABLED, APP_OUTDATED or IP_BANNED; see `code` | depends on `code` |
 * | `untrusted-answer` | an answer that is not provably the service's: a check of SPEC §7 failed | looking who answers |
 * | `clock` | this device's clock and the server's differ by more than 60 seconds | setting the clock |
 */
export type FailureReason =
  | 'network'
  | 'timeout'
  | 'aborted'
  | 'rate-limited'
  | 'unavailable'
  | 'server-rejected'
  | 'untrusted-answer'
  | 'clock';

export interface Failure {
  readonly kind: 'failure';
  readonly reason: FailureReason;
  /** The code of a plaintext failure (SPEC §11), where the server gave one. Unsigned. */
  readonly code?: string;
  /** For people. Where `code` is set it is the server's text, unsigned. */
  readonly message: string;
  /** Seconds until the server wants to be asked again, where it said so. */
  readonly retryAfterSeconds?: number;
  /** What was thrown below, for logs. */
  readonly cause?: unknown;
}

export function failure(
  reason: FailureReason,
  message: string,
  more: Pick<Failure, 'code' | 'retryAfterSeconds' | 'cause'> = {},
): Failure {
  return { kind: 'failure', reason, message, ...more };
}

/** A failure of the checks of SPEC §7. */
export function untrusted(message: string): Failure {
  return failure('untrusted-answer', message);
}
