import { z } from 'zod';

/**
 * A write that outdates what processes have cached, or what their open streams depend on. `cache` says what kind of keys
 * follow:
 *
 * - `application`, `ban`: ids of applications. A ban names its application, so that no address or device is recorded.
 * - `license`: keys of the license cache (`licenseCacheKey`).
 * - `license-of`: ids of applications, when too many of their licenses changed to name each.
 * - `license-minted`: ids of applications that got too many licenses to name each. Only what is cached about keys that
 *   do not exist is outdated, whichever application asked for them.
 * - `credentials`: ids of developers whose cookies or API keys may have ended.
 * - `logout`: hashes of cookies that were logged out.
 * - `log`: ids of applications whose security log has new entries, and of developers who have new events.
 *
 * The same object is a row of `cache_changes` and a message in Redis. Versions of the service that do not know a kind
 * treat it as "all".
 */
export const change = z.object({
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

export type Change = Readonly<z.output<typeof change>>;
export type ChangeKind = Change['cache'];

/** `all`: it is unknown what changed, so everything cached may be outdated. */
export type Changes = readonly Change[] | 'all';

/** Key of the license cache. */
export const licenseCacheKey = (keyHash: Uint8Array): string => Buffer.from(keyHash).toString('base64');

/** More keys than this are split into several changes, so that rows and messages stay small. */
const maxKeys = 1_000;

/** Merges changes of the same kind, each key once. Changes without keys are dropped. */
export function mergeChanges(changes: readonly Change[]): Change[] {
  return change.shape.cache.options.flatMap((cache): Change[] => {
    const ofKind = changes.filter((one) => one.cache === cache);
    if (ofKind.some(({ keys }) => keys === 'all')) return [{ cache, keys: 'all' }];
    const keys = [...new Set(ofKind.flatMap((one) => one.keys))];
    const starts = Array.from({ length: Math.ceil(keys.length / maxKeys) }, (_, index) => index * maxKeys);
    return starts.map((start) => ({ cache, keys: keys.slice(start, start + maxKeys) }));
  });
}

/** The parts of a process that changes invalidate. */
export interface Outdated {
  readonly caches: {
    forgetApplications(ids: readonly string[]): void;
    forgetLicenses(cacheKeys: readonly string[]): void;
    forgetLicensesOf(applicationIds: readonly string[]): void;
    forgetUnknownLicenses(): void;
    forgetBansOf(applicationIds: readonly string[]): void;
    clear(): void;
  };
  readonly followers: {
    wake(topics: ReadonlySet<string> | 'all'): void;
    recheckDevelopers(ids: ReadonlySet<string>): void;
    endSessions(tokenHashes: ReadonlySet<string> | 'all'): void;
  };
}

const effects: Readonly<Record<ChangeKind, (keys: readonly string[], outdated: Outdated) => void>> = {
  application: (ids, { caches, followers }) => {
    caches.forgetApplications(ids);
    followers.wake(new Set(ids));
  },
  license: (cacheKeys, { caches }) => caches.forgetLicenses(cacheKeys),
  'license-of': (applicationIds, { caches }) => caches.forgetLicensesOf(applicationIds),
  'license-minted': (_applicationIds, { caches }) => caches.forgetUnknownLicenses(),
  ban: (applicationIds, { caches }) => caches.forgetBansOf(applicationIds),
  credentials: (developerIds, { followers }) => followers.recheckDevelopers(new Set(developerIds)),
  logout: (tokenHashes, { followers }) => followers.endSessions(new Set(tokenHashes)),
  log: (topics, { followers }) => followers.wake(new Set(topics)),
};

/** Invalidates in this process what the changes outdate. It has taken effect when this returns. */
export function applyChanges(changes: Changes, outdated: Outdated): void {
  if (changes === 'all' || changes.some(({ keys }) => keys === 'all')) {
    outdated.caches.clear();
    outdated.followers.endSessions('all');
    outdated.followers.wake('all');
    return;
  }
  for (const { cache, keys } of changes) if (keys !== 'all') effects[cache](keys, outdated);
}
