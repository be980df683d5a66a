import type { Database } from '../db/database.ts';
import type { Clock } from '../lib/clock.ts';
import { createFailureLog } from '../lib/failure-log.ts';
import type { Logger } from '../lib/log.ts';

/** Records when credentials were used, and writes it in batches, so that requests do not wait for a write. */
export interface UseRecorder {
  note(id: string): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface UseRecorderOptions {
  /** Stores the times $2 (timestamptz[]) of the rows with the ids $1 (uuid[]). */
  readonly update: string;
  /** The log message when it fails. */
  readonly failure: string;
}

const delayMilliseconds = 1_000;

/** Writes at most one statement per second, regardless of the number of requests. */
export function createUseRecorder(
  { pool }: Pick<Database, 'pool'>,
  clock: Clock,
  log: Logger,
  { update, failure }: UseRecorderOptions,
): UseRecorder {
  const failures = createFailureLog();
  let used = new Map<string, Date>();
  let timer: NodeJS.Timeout | undefined;

  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    if (used.size === 0) return;
    const batch = used;
    used = new Map();
    try {
      await pool.query(update, [[...batch.keys()], [...batch.values()]]);
      failures.succeeded();
    } catch (error) {
      failures.failed(() => log.warn({ err: error }, failure));
    }
  };

  return {
    note(id) {
      used.set(id, new Date(clock.now()));
      timer ??= setTimeout(() => void flush(), delayMilliseconds).unref();
    },
    flush,
    close: flush,
  };
}
