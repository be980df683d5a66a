import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database.ts';
import { logsToIndex, minEntries } from './backlog.ts';
import { indexEntries } from './index-entries.ts';

/** Entries per transaction, and the pause after it as a multiple of its duration. */
const pace = {
  server: { batch: 16 * minEntries, rest: 1 },
  // Requests wait, because there is one connection.
  embedded: { batch: minEntries, rest: 4 },
} as const;

/**
 * Indexes the waiting entries of all applications that have enough of them. Call it every few seconds, one call at a time.
 * @returns whether anything was indexed
 */
export async function indexAll({ kind, pool }: Database, signal: AbortSignal): Promise<boolean> {
  const { batch, rest } = kind === 'server' ? pace.server : pace.embedded;
  let hasIndexed = false;
  if (signal.aborted) return hasIndexed;
  for (const applicationId of await logsToIndex(pool)) {
    for (let left = true; left && !signal.aborted; ) {
      const start = performance.now();
      left = await indexEntries(pool, applicationId, batch);
      hasIndexed ||= left;
      await sleep(rest * (performance.now() - start), undefined, { signal }).catch(() => undefined);
    }
  }
  return hasIndexed;
}
