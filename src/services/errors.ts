import type { z } from 'zod';
import type { RateLimitOutcome } from '../ephemeral/store.ts';

/** All error codes of dashboard operations, in REST and GraphQL. */
export const serviceErrorCodes = [
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
  'DEVICE_NOT_FOUND',
  'LOG_ENTRY_NOT_FOUND',
  'POLICY_NOT_FOUND',
  'POLICY_CODE_TAKEN',
  'INVALID_TRANSITION',
  'TOO_MANY',
  'USERNAME_TAKEN',
  'USER_NOT_FOUND',
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
  'IDEMPOTENCY_MISMATCH',
  'IDEMPOTENCY_IN_PROGRESS',
  'RATE_LIMITED',
  'TOO_MANY_SUBSCRIPTIONS',
  'TOO_MANY_EXPORTS',
  'TOO_MANY_DELIVERIES',
  'SEARCH_TOO_BROAD',
  'TOO_MANY_READS',
  'CURSOR_EXPIRED',
  'UNAVAILABLE',
  'INTERNAL',
] as const;

export type ServiceErrorCode = (typeof serviceErrorCodes)[number];

/** One problem with an input. */
export interface InputIssue {
  /** Member names and indexes, from the input's root. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Limits on reported unknown members, because the client chooses their number and the length of their names. */
const maxUnknown = { members: 20, characters: 100 } as const;

/** The paths of an issue. Zod reports all unknown members of an object as one issue; each gets its own path. */
function pathsOf(issue: z.core.$ZodIssue, unknown: { reported: number }): readonly PropertyKey[][] {
  if (issue.code !== 'unrecognized_keys') return [issue.path];
  const named = issue.keys.slice(0, maxUnknown.members - unknown.reported);
  unknown.reported += named.length;
  return named.map((name) => [...issue.path, name.slice(0, maxUnknown.characters)]);
}

/** An expected error with a message for the caller. Transports convert it to their own format. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ServiceErrorCode;
  readonly issues: readonly InputIssue[] | undefined;

  constructor(
    code: ServiceErrorCode,
    message: string,
    options: { issues?: readonly InputIssue[]; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.issues = options.issues;
  }

  /** VALIDATION_FAILED for one member, by a rule that its schema cannot check. @param message what the member must be */
  static invalidMember(member: string, message: string): ServiceError {
    return new ServiceError('VALIDATION_FAILED', `The input is not valid: ${member}: ${message}`, {
      issues: [{ path: [member], message }],
    });
  }

  /** VALIDATION_FAILED with all issues of a schema. */
  static invalidInput(zodIssues: readonly z.core.$ZodIssue[]): ServiceError {
    const unknown = { reported: 0 };
    const issues = zodIssues.flatMap((issue) =>
      pathsOf(issue, unknown).map((path) => ({
        path: path.map((part) => (typeof part === 'symbol' ? String(part) : part)),
        message: issue.message,
      })),
    );
    const first = issues[0];
    const where = first === undefined || first.path.length === 0 ? '' : `${first.path.join('.')}: `;
    return new ServiceError('VALIDATION_FAILED', `The input is not valid: ${where}${first?.message ?? ''}`, {
      issues,
    });
  }
}

export const applicationNotFound = () => new ServiceError('APP_NOT_FOUND', 'There is no such application.');
export const licenseNotFound = () => new ServiceError('LICENSE_NOT_FOUND', 'There is no such license.');
export const deviceNotFound = () => new ServiceError('DEVICE_NOT_FOUND', 'There is no such device.');
export const policyNotFound = () => new ServiceError('POLICY_NOT_FOUND', 'There is no such policy.');
export const webhookNotFound = () => new ServiceError('WEBHOOK_NOT_FOUND', 'There is no such webhook.');
export const deliveryNotFound = () => new ServiceError('DELIVERY_NOT_FOUND', 'There is no such delivery.');
export const userNotFound = () => new ServiceError('USER_NOT_FOUND', 'There is no such user.');

export const sessionNotFound = () => new ServiceError('SESSION_NOT_FOUND', 'There is no such session.');

/** RATE_LIMITED, with the time until the next request is allowed. */
export class RateLimitedError extends ServiceError {
  readonly outcome: RateLimitOutcome;

  constructor(
    outcome: RateLimitOutcome,
    message = `Too many requests. Try again in ${outcome.resetSeconds} s.`,
  ) {
    super('RATE_LIMITED', message);
    this.outcome = outcome;
  }
}
