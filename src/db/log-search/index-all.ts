import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database.ts';
import { fewestEntries, logsToIndex } from './backlog.ts';
import { indexEntries } from './index-entries.ts';

/** Entries of one transaction, and how long to leave the database to others after it, by how long it took. */
const pace = {
  server: { batch: 16 * fewestEntries, rest: 1 },
  // One connection for all, which others wait for meanwhile.
  embedded: { batch: fewestEntries, rest: 4 },
} as const;

/**
 * Indexes what waits, unless it is too little for now. Call it every few seconds, and not before it is done.
 * @returns whether something was indexed
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
