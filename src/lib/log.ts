import { type Logger, pino } from 'pino';
import { createLogOutput, type LogOutput } from './log-output.ts';
import type { LineFormat } from './readable-lines.ts';

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

/** All loggers of the process write there, so that lines stay in order. */
let standardOutput: LogOutput | undefined;

/**
 * Has the process's logger write each line in another format than JSON. Called before the first logger is created.
 */
export function formatLines(format: LineFormat): void {
  const output = createLogOutput();
  standardOutput = { ...output, write: (line) => output.write(format(line)) };
}

/**
 * The process's structured logger: one JSON object a line on standard output, within a tenth of a second or when the
 * process ends. Logging never waits for the reader of the log.
 */
export function createLogger(level: string, destination?: NodeJS.WritableStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: (error: unknown) => describeError(error) },
  };
  if (destination !== undefined) return pino(options, destination);
  standardOutput ??= createLogOutput();
  return pino(options, standardOutput);
}

/** A reader of the log that has stopped reading holds no end up for longer, in milliseconds. */
const longestFlush = 1_000;

/** Resolves when all that was logged is with the system: before a process exits in order. */
export function flushed(log: Logger): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(resolve, longestFlush);
    log.flush(() => {
      clearTimeout(late);
      resolve();
    });
  });
}
