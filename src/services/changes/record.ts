import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Prisma } from '../../db/client.ts';
import { createFailureLog } from '../../lib/failure-log.ts';
import type { Logger } from '../../lib/log.ts';
import { type Change, type ChangeKind, mergeChanges } from './change.ts';

const insert = `
  INSERT INTO cache_changes (cache, keys)
  SELECT change ->> 'cache', change -> 'keys' FROM jsonb_array_elements($1::jsonb) AS change`;

/**
 * Records a transaction's changes, as its last statement. Other instances read them as soon as the transaction is
 * committed, even if this instance dies before it can publish them, or without Redis.
 */
export async function recordChanges(
  transaction: Prisma.TransactionClient,
  changes: readonly Change[],
): Promise<void> {
  const rows = mergeChanges(changes);
  if (rows.length > 0) await transaction.$executeRawUnsafe(insert, JSON.stringify(rows));
}

/** Records changes that belong to no transaction, such as logouts. */
export interface ChangeRecorder {
  /** Resolves when the change is recorded, or after a second; recording is then retried until the database responds. */
  record(cache: ChangeKind, keys: readonly string[]): Promise<void>;
}

/** Maximum number of waiting keys of a kind while the database does not respond; the latest are kept. */
const maxWaiting = 1_000;
const longestWait = 1_000;
const retryEvery = 1_000;

export function createChangeRecorder(pool: Pool, log: Pick<Logger, 'warn'>): ChangeRecorder {
  const waiting = new Map<ChangeKind, Set<string>>();
  const failures = createFailureLog();
  let recording: Promise<void> | null = null;

  /** Changes that arrive during a round are recorded in the next one. */
  async function recordAll(): Promise<void> {
    for (;;) {
      const batch = Array.from(waiting, ([cache, keys]) => ({ cache, keys: [...keys] }));
      const rows = mergeChanges(batch);
      if (rows.length === 0 || pool.ending) break;
      try {
        await pool.query(insert, [JSON.stringify(rows)]);
        for (const { cache, keys } of batch) for (const key of keys) waiting.get(cache)?.delete(key);
        failures.succeeded();
      } catch (error) {
        failures.failed(() =>
          log.warn({ err: error }, 'A change could not be recorded for other instances; will try again'),
        );
        await sleep(retryEvery, undefined, { ref: false });
      }
    }
    recording = null;
  }

  return {
    async record(cache, keys) {
      if (keys.length === 0) return;
      const own = waiting.get(cache) ?? new Set();
      waiting.set(cache, own);
      for (const key of keys) own.add(key);
      for (const oldest of own) if (own.size > maxWaiting) own.delete(oldest);
      recording ??= recordAll();
      await Promise.race([recording, sleep(longestWait, undefined, { ref: false })]);
    },
  };
}
