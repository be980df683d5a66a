import type { z } from 'zod';
import type { RateLimitOutcome } from '../ephemeral/store.ts';

/** All error codes of dashboard operations, in REST and GraphQL. */
export const serviceErrorCodes = [
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
  'HWID_BANNED',
  'HWID_MISMATCH',
  'USERNAME_TAKEN',
  'USER_NOT_FOUND',
  'BAN_NOT_FOUND',
  'API_KEY_NOT_FOUND',
  'IP_NOT_KNOWN',
  'EMAIL_TAKEN',
  'KEY_EXISTS',
  'PRIVATE_MODE',
  'LIMIT_REACHED',
  'RATE_LIMITED',
  'TOO_MANY_SUBSCRIPTIONS',
  'TOO_MANY_EXPORTS',
  'SEARCH_TOO_BROAD',
  'TOO_MANY_READS',
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
export const userNotFound = () => new ServiceError('USER_NOT_FOUND', 'There is no such user.');

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
