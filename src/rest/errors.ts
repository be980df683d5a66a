import { IncomingMessage } from 'node:http';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import {
  type InputIssue,
  RateLimitedError,
  ServiceError,
  type ServiceErrorCode,
} from '../services/errors.ts';
import { ProtocolError } from '../services/protocol-error.ts';
import { isUnavailable } from '../services/unavailable.ts';
import { unmatched } from '../telemetry/request-notes.ts';
import type { RestContext } from './adapter.ts';
import { rateLimitFields, setFields } from './header-fields.ts';

/** HTTP status of every service error. */
export const serviceErrorStatus = {
  VALIDATION_FAILED: 400,
  BOT_CHALLENGE_FAILED: 400,
  HWID_NOT_SET: 400,
  LICENSE_BANNED: 400,
  LICENSE_REQUIRED: 400,
  BANNED: 403,
  EXPIRED: 403,
  APP_MISMATCH: 403,
  HWID_BANNED: 403,
  SUSPENDED: 403,
  DEVICE_RELEASED: 403,
  HWID_MISMATCH: 403,
  DEVICE_LIMIT: 403,
  DEVICE_NOT_FOUND: 404,
  LOG_ENTRY_NOT_FOUND: 404,
  POLICY_NOT_FOUND: 404,
  POLICY_CODE_TAKEN: 409,
  INVALID_TRANSITION: 409,
  TOO_MANY: 400,
  USERNAME_TAKEN: 409,
  USER_NOT_FOUND: 404,
  BAN_NOT_FOUND: 404,
  API_KEY_NOT_FOUND: 404,
  SESSION_NOT_FOUND: 404,
  WEBHOOK_NOT_FOUND: 404,
  DELIVERY_NOT_FOUND: 404,
  IP_NOT_KNOWN: 400,
  UNAUTHENTICATED: 401,
  INVALID_CREDENTIALS: 401,
  TOTP_REQUIRED: 401,
  TOTP_INVALID: 401,
  FORBIDDEN: 403,
  CONFIRMATION_REQUIRED: 403,
  INSUFFICIENT_SCOPE: 403,
  REGISTRATION_CLOSED: 403,
  APP_NOT_FOUND: 404,
  LICENSE_NOT_FOUND: 404,
  EMAIL_TAKEN: 409,
  KEY_EXISTS: 409,
  PRIVATE_MODE: 409,
  LIMIT_REACHED: 409,
  IDEMPOTENCY_MISMATCH: 422,
  IDEMPOTENCY_IN_PROGRESS: 409,
  RATE_LIMITED: 429,
  TOO_MANY_SUBSCRIPTIONS: 429,
  TOO_MANY_EXPORTS: 429,
  TOO_MANY_DELIVERIES: 429,
  SEARCH_TOO_BROAD: 400,
  TOO_MANY_READS: 429,
  CURSOR_EXPIRED: 410,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const satisfies Record<ServiceErrorCode, ContentfulStatusCode>;

/** Body of every error response outside the sealed protocol. */
export interface ErrorBody {
  readonly success: false;
  readonly error: string;
  readonly code: string;
  readonly issues?: readonly InputIssue[];
  /** Only with INTERNAL: the id to quote to the operator. */
  readonly requestId?: string;
}

const body = (code: string, error: string, issues?: readonly InputIssue[]): ErrorBody => ({
  success: false,
  error,
  code,
  ...(issues && { issues }),
});

/** Sends an error and records its code for the request's log line. */
function answer(c: RestContext, failure: ErrorBody, status: ContentfulStatusCode): Response {
  c.get('notes').code = failure.code;
  return c.json(failure, status);
}

/** Converts any exception to the common error body. Unexpected errors expose only the request id. */
export function answerError(error: Error, c: RestContext): Response {
  if (error instanceof RateLimitedError) setFields(c, rateLimitFields(error.outcome));
  if (error instanceof ServiceError) {
    if (error.code === 'IDEMPOTENCY_IN_PROGRESS') c.header('Retry-After', '1');
    return answer(c, body(error.code, error.message, error.issues), serviceErrorStatus[error.code]);
  }
  if (error instanceof ProtocolError) {
    c.get('env').counts.protocolRefusals.add(error.code);
    return answer(c, body(error.code, error.message), error.status);
  }
  if (error instanceof HTTPException) return answerHttpException(error, c);
  if (isAbortedUpload(error, c)) {
    c.get('env').log.debug(
      { requestId: c.get('requestId') },
      'client disconnected before sending its whole request',
    );
    return answerUnreadableBody(c);
  }
  if (isUnavailable(error)) {
    c.get('env').log.error(
      { err: error, requestId: c.get('requestId') },
      'a required dependency is unavailable',
    );
    return answer(c, body('UNAVAILABLE', 'The service is temporarily unavailable. Try again shortly.'), 503);
  }
  c.get('env').log.error({ err: error, requestId: c.get('requestId') }, 'request failed unexpectedly');
  return answer(
    c,
    { ...body('INTERNAL', 'Internal error. It has been logged.'), requestId: c.get('requestId') },
    500,
  );
}

/**
 * Whether the client disconnected while sending its body. Clients can do this at will, so it must not be logged as an
 * outage. Node fails the body with ECONNRESET, as a lost database connection does, so the check compares the error
 * object with the one of this request.
 */
function isAbortedUpload(error: Error, c: RestContext): boolean {
  const bindings: unknown = c.env;
  if (typeof bindings !== 'object' || bindings === null || !('incoming' in bindings)) return false;
  const { incoming } = bindings;
  if (!(incoming instanceof IncomingMessage) || incoming.complete) return false;
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause === incoming.errored) return true;
  }
  return false;
}

/** Errors that Hono and body middleware throw: the body is not JSON, not declared as JSON, or too large. */
function answerHttpException(error: HTTPException, c: RestContext): Response {
  if (error.status === 413) {
    return answer(c, body('PAYLOAD_TOO_LARGE', error.message || 'The request body is too large.'), 413);
  }
  return answerUnreadableBody(c);
}

function answerUnreadableBody(c: RestContext): Response {
  const message = 'The request body must be well-formed JSON, sent as Content-Type: application/json.';
  return answer(c, body('VALIDATION_FAILED', message, [{ path: [], message }]), 400);
}

export function answerNotFound(c: RestContext): Response {
  c.get('notes').route = unmatched;
  return answer(c, body('ROUTE_NOT_FOUND', `There is no route ${c.req.method} ${c.req.path}.`), 404);
}

/** Answers a request for a file that a build step creates. */
export const answerNotBuilt = (c: RestContext, what: string): Response =>
  answer(
    c,
    body(
      'ROUTE_NOT_FOUND',
      `${what} is not built on this service. Its operator builds the packages with "npm run pack:clients" in Latchkey's folder.`,
    ),
    404,
  );
