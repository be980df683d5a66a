import type { z } from 'zod';
import type { RateLimitOutcome } from '../ephemeral/store.ts';

/** Every code that a dashboard operation can answer with, whichever transport carries it (design §5). */
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

/** One thing wrong with an input. */
export interface InputIssue {
  /** Where: member names and indexes from the input's root. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** What is told of members that are not known: their sender chooses how many there are, and how long their names. */
const mostUnknown = { members: 20, characters: 100 } as const;

/** Where an issue is. Members that are not known are of one issue, at the object that has them; each is a place. */
function placesOf(issue: z.core.$ZodIssue, unknown: { told: number }): readonly PropertyKey[][] {
  if (issue.code !== 'unrecognized_keys') return [issue.path];
  const named = issue.keys.slice(0, mostUnknown.members - unknown.told);
  unknown.told += named.length;
  return named.map((name) => [...issue.path, name.slice(0, mostUnknown.characters)]);
}

/** A refusal that the caller should read: the transports turn it into their own shape. */
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

  /** VALIDATION_FAILED with everything that a schema found wrong. */
  static invalidInput(found: readonly z.core.$ZodIssue[]): ServiceError {
    const unknown = { told: 0 };
    const issues = found.flatMap((issue) =>
      placesOf(issue, unknown).map((path) => ({
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

/** Too many requests of one kind in a window: tells the caller when the next one is welcome. */
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
