/** All error codes of this version of the service. */
export const serviceCodes = [
  'VALIDATION_FAILED',
  'UNAUTHENTICATED',
  'INVALID_CREDENTIALS',
  'TOTP_REQUIRED',
  'TOTP_INVALID',
  'CONFIRMATION_REQUIRED',
  'BOT_CHALLENGE_FAILED',
  'REGISTRATION_CLOSED',
  'FORBIDDEN',
  'INSUFFICIENT_SCOPE',
  'APP_NOT_FOUND',
  'LICENSE_NOT_FOUND',
  'HWID_NOT_SET',
  'LICENSE_BANNED',
  'LICENSE_REQUIRED',
  'BANNED',
  'SUSPENDED',
  'EXPIRED',
  'APP_MISMATCH',
  'HWID_BANNED',
  'DEVICE_RELEASED',
  'HWID_MISMATCH',
  'DEVICE_LIMIT',
  'USERNAME_TAKEN',
  'USER_NOT_FOUND',
  'DEVICE_NOT_FOUND',
  'POLICY_NOT_FOUND',
  'POLICY_CODE_TAKEN',
  'LOG_ENTRY_NOT_FOUND',
  'INVALID_TRANSITION',
  'TOO_MANY',
  'BAN_NOT_FOUND',
  'API_KEY_NOT_FOUND',
  'SESSION_NOT_FOUND',
  'WEBHOOK_NOT_FOUND',
  'DELIVERY_NOT_FOUND',
  'IP_NOT_KNOWN',
  'EMAIL_TAKEN',
  'KEY_EXISTS',
  'PRIVATE_MODE',
  'LIMIT_REACHED',
  'TOO_MANY_SUBSCRIPTIONS',
  'TOO_MANY_EXPORTS',
  'TOO_MANY_DELIVERIES',
  'SEARCH_TOO_BROAD',
  'TOO_MANY_READS',
  'IDEMPOTENCY_MISMATCH',
  'IDEMPOTENCY_IN_PROGRESS',
  'CURSOR_EXPIRED',
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

/** The client's own codes, for calls without a valid response from the service. */
export type ClientCode =
  /** No connection, or the connection was lost before the response was complete. */
  | 'NETWORK'
  /** No complete response within the timeout. */
  | 'TIMEOUT'
  /** The caller's signal aborted. */
  | 'ABORTED'
  /** Not a valid response of the service: a proxy's page, a redirect, incomplete data. Check `baseUrl`. */
  | 'BAD_ANSWER';

export type KnownCode = (typeof serviceCodes)[number] | ClientCode;

/** The known codes, for editor completion. Newer services may send others, so keep a default branch. */
export type ManagementErrorCode = KnownCode | (string & {});

/** One problem with an input. */
export interface InputIssue {
  /** Member names and indexes, from the input's root. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** One error of a response. */
export interface AnsweredError {
  readonly code: ManagementErrorCode;
  readonly message: string;
  /** The field that failed: names and indexes from the operation's root. */
  readonly path?: readonly (string | number)[] | undefined;
  /** With VALIDATION_FAILED: every problem with the input. */
  readonly issues?: readonly InputIssue[] | undefined;
  /** With INTERNAL: the id to quote to the operator. */
  readonly requestId?: string | undefined;
}

export interface ErrorDetails {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly errors?: readonly AnsweredError[] | undefined;
  readonly data?: unknown;
  readonly idempotencyKey?: string | undefined;
  readonly cause?: unknown;
}

/** The only error that the client throws for failures of the service or the network. */
export class ManagementError extends Error {
  override readonly name = 'ManagementError';
  /** Code of the first error. */
  readonly code: ManagementErrorCode;
  /** HTTP status; undefined without a response. Most GraphQL errors have status 200. */
  readonly status: number | undefined;
  /** With VALIDATION_FAILED: every problem with the input. */
  readonly issues: readonly InputIssue[];
  /** The field that failed: names and indexes from the operation's root. */
  readonly path: readonly (string | number)[] | undefined;
  /** The id of this request in the service's log. */
  readonly requestId: string | undefined;
  /** Seconds to wait before the next request, if the service sent `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
  /** Set if a mutation may have been carried out: pass it to repeat the call, which then is carried out once. */
  readonly idempotencyKey: string | undefined;
  /** All errors of the response, including the first; empty without a response. */
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
    this.idempotencyKey = details.idempotencyKey;
    this.errors = details.errors ?? [];
    this.#data = details.data;
  }

  /**
   * The response's data in addition to its errors: some fields of an operation can succeed, and they may contain keys
   * that are shown only once. A getter, so that logs that print the error's members do not include it.
   */
  get data(): unknown {
    return this.#data;
  }
}

/** Whether a thrown value is a {@link ManagementError}, with one of the given codes if any are given. */
export function isManagementError<Code extends KnownCode>(
  thrown: unknown,
  ...codes: readonly Code[]
): thrown is ManagementError & { readonly code: Code } {
  return (
    thrown instanceof ManagementError && (codes.length === 0 || codes.some((code) => code === thrown.code))
  );
}
