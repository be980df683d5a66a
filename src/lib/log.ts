import { type Logger, pino } from 'pino';
import { createLogOutput, type LogOutput } from './log-output.ts';
import type { LineFormat } from './readable-lines.ts';

export type { Logger };

/** The logged fields of an error. A closed list, because database errors contain whole rows in other fields. */
interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string | undefined;
  readonly stack?: string | undefined;
  readonly cause?: LoggedError | undefined;
}

/** Maximum depth of logged causes. */
const maxCauseDepth = 5;

function describeError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  return {
    type: error.name,
    message: error.message,
    code: 'code' in error && typeof error.code === 'string' ? error.code : undefined,
    stack: error.stack,
    cause:
      error.cause === undefined || depth >= maxCauseDepth ? undefined : describeError(error.cause, depth + 1),
  };
}

/** Shared by all loggers of the process, so that lines stay in order. */
let standardOutput: LogOutput | undefined;

/**
 * Makes the process's loggers write lines in another format than JSON. Must be called before the first logger is created.
 */
export function formatLines(format: LineFormat): void {
  const output = createLogOutput();
  standardOutput = { write: (line) => output.write(format(line)), flush: (then) => output.flush(then) };
}

/**
 * Creates a structured logger: one JSON object per line on standard output, written within 100 ms or on exit. Logging
 * never blocks on the log's reader.
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

/** Maximum time to wait for a flush, in milliseconds, so that a blocked log reader does not prevent shutdown. */
const flushTimeoutMilliseconds = 1_000;

/**
 * Resolves when all log lines have been written, when the reader blocks, or after a timeout. Called before a graceful exit,
 * which writes the rest.
 */
export function flushed(log: Logger): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, flushTimeoutMilliseconds);
    log.flush(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
