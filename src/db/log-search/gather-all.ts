import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database.ts';
import { fewestEntries, logsToGather } from './backlog.ts';
import { gather } from './gather.ts';

/** Entries of one transaction, and how long to leave the database to others after it, by how long it took. */
const pace = {
  server: { batch: 16 * fewestEntries, rest: 1 },
  // One connection for all, which others wait for meanwhile.
  embedded: { batch: fewestEntries, rest: 4 },
} as const;

/**
 * Gathers what waits, unless it is too little for now. Call it every few seconds, and not before it is done.
 * @returns whether something was gathered
 */
export async function gatherAll({ kind, pool }: Database, signal: AbortSignal): Promise<boolean> {
  const { batch, rest } = kind === 'server' ? pace.server : pace.embedded;
  let hasGathered = false;
  if (signal.aborted) return hasGathered;
  for (const applicationId of await logsToGather(pool)) {
    for (let left = true; left && !signal.aborted; ) {
      const start = performance.now();
      left = await gather(pool, applicationId, batch);
      hasGathered ||= left;
      await sleep(rest * (performance.now() - start), undefined, { signal }).catch(() => undefined);
    }
  }
  return hasGathered;
}
