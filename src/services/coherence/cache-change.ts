import { z } from 'zod';
import type { Prisma } from '../../db/client.ts';

/**
 * What a write changed of that which instances have cached. Keys are the cache's own, save for bans: there they are
 * ids of applications, so that no address or device outlives the ban that named it.
 */
export const cacheChange = z.object({
  cache: z.enum(['application', 'license', 'ban']),
  keys: z.union([z.literal('all'), z.array(z.string()).readonly()]),
});

export type CacheChange = Readonly<z.infer<typeof cacheChange>>;

/** Beyond so many, everything is to be forgotten: a row stays small. */
const mostKeys = 1_000;

/** Several changes as one a cache, each key once. */
function summarize(changes: readonly CacheChange[]): CacheChange[] {
  return cacheChange.shape.cache.options.flatMap((cache) => {
    const own = changes.filter((change) => change.cache === cache);
    if (own.length === 0) return [];
    const keys = new Set(own.flatMap((change) => (change.keys === 'all' ? [] : change.keys)));
    const all = keys.size > mostKeys || own.some((change) => change.keys === 'all');
    return [{ cache, keys: all ? 'all' : [...keys] }];
  });
}

/**
 * Writes what a transaction changes as its last statement: other instances find it there when it has been committed,
 * though this one died before it could tell them over Redis.
 */
export async function noteChanges(
  transaction: Prisma.TransactionClient,
  changes: readonly CacheChange[],
): Promise<void> {
  if (changes.length === 0) return;
  await transaction.$executeRaw`
    INSERT INTO cache_changes (cache, keys)
    SELECT change ->> 'cache', change -> 'keys'
    FROM jsonb_array_elements(${JSON.stringify(summarize(changes))}::jsonb) AS change`;
}
