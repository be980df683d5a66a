import type { Pool } from 'pg';
import { z } from 'zod';
import type { Prisma } from '../../db/client.ts';

/**
 * What a write changed that other instances have cached, or that their open streams depend on. The keys of each kind
 * are:
 *
 * - `application`, `ban`: ids of applications. A ban names its application, so that no address or device outlives it.
 * - `license`: keys of the license cache.
 * - `license-of`: ids of applications, more of whose licenses have changed than are worth naming.
 * - `license-minted`: ids of applications that got more licenses than are worth naming. What is remembered of keys that
 *   do not exist is outdated, whichever application was asked about them; no license is.
 * - `credentials`: ids of developers, whose cookies or API keys may have ended.
 * - `logout`: hashes of cookies that were logged out of.
 * - `log`: ids of applications whose log has new entries.
 */
export const cacheChange = z.object({
  cache: z.enum([
    'application',
    'license',
    'license-of',
    'license-minted',
    'ban',
    'credentials',
    'logout',
    'log',
  ]),
  keys: z.union([z.literal('all'), z.array(z.string()).readonly()]),
});

export type CacheChange = Readonly<z.infer<typeof cacheChange>>;

/** More keys than this go in several rows, so that each stays small. */
const mostKeys = 1_000;

/** Several changes as few, each key once. */
function summarize(changes: readonly CacheChange[]): CacheChange[] {
  return cacheChange.shape.cache.options.flatMap((cache): CacheChange[] => {
    const own = changes.filter((change) => change.cache === cache);
    if (own.some((change) => change.keys === 'all')) return [{ cache, keys: 'all' }];
    const keys = [...new Set(own.flatMap((change) => change.keys))];
    const rows = Array.from({ length: Math.ceil(keys.length / mostKeys) }, (_, row) => row * mostKeys);
    return rows.map((from) => ({ cache, keys: keys.slice(from, from + mostKeys) }));
  });
}

const insert = `
  INSERT INTO cache_changes (cache, keys)
  SELECT change ->> 'cache', change -> 'keys' FROM jsonb_array_elements($1::jsonb) AS change`;

/**
 * Writes what a transaction changes as its last statement: other instances find it there when it has been committed,
 * even if this one dies before it can tell them over Redis, or there is no Redis.
 */
export async function noteChanges(
  transaction: Prisma.TransactionClient,
  changes: readonly CacheChange[],
): Promise<void> {
  const rows = summarize(changes);
  if (rows.length > 0) await transaction.$executeRawUnsafe(insert, JSON.stringify(rows));
}

/** Writes changes that belong to no transaction. */
export async function recordChanges(pool: Pool, changes: readonly CacheChange[]): Promise<void> {
  const rows = summarize(changes);
  if (rows.length > 0) await pool.query(insert, [JSON.stringify(rows)]);
}
