import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { createFailureLog } from '../lib/failure-log.ts';
import type { Logger } from '../lib/log.ts';

/** Deletes the sessions of logouts, also of those that happen while the database is unavailable. */
export interface EndedSessions {
  /** Resolves when the session is deleted, or after a second; the deletion is then tried again until the database responds. */
  end(sessionId: string): Promise<void>;
}

/** Maximum number of waiting deletions while the database does not respond; the latest are kept. */
const maxWaiting = 1_000;
const longestWait = 1_000;
const retryEvery = 1_000;

export function createEndedSessions(pool: Pool, log: Pick<Logger, 'warn'>): EndedSessions {
  const waiting = new Set<string>();
  const failures = createFailureLog();
  let deleting: Promise<void> | null = null;

  /** Sessions that end during a round are deleted in the next one. */
  async function deleteAll(): Promise<void> {
    while (waiting.size > 0 && !pool.ending) {
      const batch = [...waiting];
      try {
        await pool.query('DELETE FROM account_sessions WHERE id = ANY($1::uuid[])', [batch]);
        for (const id of batch) waiting.delete(id);
        failures.succeeded();
      } catch (error) {
        failures.failed(() =>
          log.warn({ err: error }, 'A session that was logged out could not be deleted; will try again'),
        );
        await sleep(retryEvery, undefined, { ref: false });
      }
    }
    deleting = null;
  }

  return {
    async end(sessionId) {
      waiting.add(sessionId);
      for (const oldest of waiting) if (waiting.size > maxWaiting) waiting.delete(oldest);
      deleting ??= deleteAll();
      await Promise.race([deleting, sleep(longestWait, undefined, { ref: false })]);
    },
  };
}
