import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';

/** Records when API keys were used, and writes it in batches, so that requests do not wait for a write. */
export interface ApiKeyUseRecorder {
  note(apiKeyId: string): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

const delayMilliseconds = 1_000;

/** Writes at most one statement per second, regardless of the number of requests. */
export function createApiKeyUseRecorder(
  { pool }: Pick<Database, 'pool'>,
  clock: Clock,
  log: Logger,
): ApiKeyUseRecorder {
  let used = new Map<string, Date>();
  let timer: NodeJS.Timeout | undefined;

  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    if (used.size === 0) return;
    const batch = used;
    used = new Map();
    // A stored time that is up to an hour later is kept, because another instance may have written it. One further ahead
    // comes from a clock that was wrong.
    await pool
      .query(
        `UPDATE api_keys SET last_used_at = used.at
         FROM unnest($1::uuid[], $2::timestamptz[]) AS used (id, at)
         WHERE api_keys.id = used.id AND
           (last_used_at BETWEEN used.at AND used.at + interval '1 hour') IS NOT TRUE`,
        [[...batch.keys()], [...batch.values()]],
      )
      .catch((error: unknown) => log.warn({ err: error }, 'API key usage could not be written'));
  };

  return {
    note(apiKeyId) {
      used.set(apiKeyId, new Date(clock.now()));
      timer ??= setTimeout(() => void flush(), delayMilliseconds).unref();
    },
    flush,
    close: flush,
  };
}
