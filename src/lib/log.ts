import { type Logger, pino } from 'pino';

export type { Logger };

/** What is logged of an error: a named list, since database errors carry whole rows in their other fields. */
interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly code: string | undefined;
  readonly stack: string | undefined;
  readonly cause: LoggedError | undefined;
}

/** The deepest chain of causes that is logged. */
const deepestCause = 5;

export function describeError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) {
    return {
      type: typeof error,
      message: String(error),
      code: undefined,
      stack: undefined,
      cause: undefined,
    };
  }
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message,
    code: typeof code === 'string' ? code : undefined,
    stack: error.stack,
    cause:
      error.cause === undefined || depth >= deepestCause ? undefined : describeError(error.cause, depth + 1),
  };
}

/** The process's structured logger: one JSON object a line on standard output. */
export function createLogger(level: string, destination?: NodeJS.WritableStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: (error: unknown) => describeError(error) },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
