import { type Logger, pino } from 'pino';

export type { Logger };

/** The process's structured logger: one JSON object a line on standard output. */
export function createLogger(level: string): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime });
}
