/** Codes that the service answers with today, whichever operation was asked. */
export const serviceCodes = [
  'VALIDATION_FAILED',
  'UNAUTHENTICATED',
  'INVALID_CREDENTIALS',
  'BOT_CHALLENGE_FAILED',
  'REGISTRATION_CLOSED',
  'FORBIDDEN',
  'APP_NOT_FOUND',
  'LICENSE_NOT_FOUND',
  'HWID_NOT_SET',
  'LICENSE_BANNED',
  'LICENSE_REQUIRED',
  'BANNED',
  'EXPIRED',
  'APP_MISMATCH',
  'USERNAME_TAKEN',
  'USER_NOT_FOUND',
  'BAN_NOT_FOUND',
  'API_KEY_NOT_FOUND',
  'IP_NOT_KNOWN',
  'EMAIL_TAKEN',
  'KEY_EXISTS',
  'PRIVATE_MODE',
  'LIMIT_REACHED',
  'TOO_MANY_SUBSCRIPTIONS',
  'TOO_MANY_EXPORTS',
  'SEARCH_TOO_BROAD',
  'TOO_MANY_READS',
  'RATE_LIMITED',
  'UNAVAILABLE',
  'INTERNAL',
  'PAYLOAD_TOO_LARGE',
  'ROUTE_NOT_FOUND',
  'NOT_ACCEPTABLE',
  'BAD_REQUEST',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'QUERY_TOO_LARGE',
  'QUERY_TOO_WIDE',
  'QUERY_TOO_DEEP',
  'QUERY_TOO_COMPLEX',
] as const;

/** The client's own codes: what happened when there is no answer of the service. */
export type ClientCode =
  /** No connection, or one that broke off before the answer was whole. */
  | 'NETWORK'
  /** No whole answer within the time limit. */
  | 'TIMEOUT'
  /** The caller's signal. */
  | 'ABORTED'
  /** An answer that is not the service's: a proxy's page, a redirect, a half. Is `baseUrl` right? */
  | 'BAD_ANSWER';

export type KnownCode = (typeof serviceCodes)[number] | ClientCode;

/** The known codes, which an editor offers, and open for those of a newer service: keep a default branch. */
export type ManagementErrorCode = KnownCode | (string & {});

/** One thing wrong with an input. */
export interface InputIssue {
  /** Where: member names and indexes from the input's root. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** One error of an answer; most answers that have any have one. */
export interface AnsweredError {
  readonly code: ManagementErrorCode;
  readonly message: string;
  /** Which field of the operation failed: names and indexes from its root. */
  readonly path?: readonly (string | number)[] | undefined;
  /** With VALIDATION_FAILED: everything that is wrong. */
  readonly issues?: readonly InputIssue[] | undefined;
  /** With INTERNAL: what to quote when asking the operator. */
  readonly requestId?: string | undefined;
}

export interface ErrorDetails {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly errors?: readonly AnsweredError[] | undefined;
  readonly data?: unknown;
  readonly cause?: unknown;
}

/** Why an operation has no result. The client throws nothing else for what a service or a network can do. */
export class ManagementError extends Error {
  override readonly name = 'ManagementError';
  /** Code of the first error. */
  readonly code: ManagementErrorCode;
  /** HTTP status; undefined where there was no answer. GraphQL answers most errors with 200. */
  readonly status: number | undefined;
  /** With VALIDATION_FAILED: everything that is wrong with the input. */
  readonly issues: readonly InputIssue[];
  /** Which field of the operation failed, from its root. */
  readonly path: readonly (string | number)[] | undefined;
  /** What the service's log has this request under. */
  readonly requestId: string | undefined;
  /** Seconds until the service wants to be asked again, where it said so. */
  readonly retryAfterSeconds: number | undefined;
  /** Every error of the answer, the first one included; none where there was no answer. */
  readonly errors: readonly AnsweredError[];
  readonly #data: unknown;

  constructor(code: ManagementErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    const [first] = details.errors ?? [];
    this.code = code;
    this.status = details.status;
    this.issues = first?.issues ?? [];
    this.path = first?.path;
    this.requestId = details.requestId ?? first?.requestId;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.errors = details.errors ?? [];
    this.#data = details.data;
  }

  /**
   * What the answer has beside its errors: an operation of several fields can succeed in some, and the keys of a batch
   * are shown once. No log that prints the error's members shows it.
   */
  get data(): unknown {
    return this.#data;
  }
}

/** Whether something thrown is a {@link ManagementError}, and one of these codes where any are given. */
export function isManagementError<Code extends KnownCode>(
  thrown: unknown,
  ...codes: readonly Code[]
): thrown is ManagementError & { readonly code: Code } {
  return (
    thrown instanceof ManagementError && (codes.length === 0 || codes.some((code) => code === thrown.code))
  );
}
