import type { Pool } from 'pg';
import type { Sha256 } from '../crypto/hash.ts';
import type { Keyring } from '../crypto/keyring.ts';
import { type Cache, type CacheUsage, createCache } from '../ephemeral/cache.ts';
import type { EphemeralStore } from '../ephemeral/store.ts';
import type { Logger } from '../lib/log.ts';
import { type ApplicationSnapshot, loadApplicationSnapshot } from './application/snapshot.ts';
import { type BanList, banListSize, loadBanList } from './ban/ban-list.ts';
import { applicationOfBanKey, type BanType, banCacheKey, loadIsBanned } from './ban/is-banned.ts';
import type { CacheChange } from './coherence/cache-change.ts';
import type { DatabaseWatch } from './coherence/database-watch.ts';
import { createLicenseLoader, type LicenseSnapshot, licenseCacheKey } from './license/snapshot.ts';

/**
 * What the hot path reads, kept in memory: bounded, negative answers too, and invalidated by every write that
 * changes it, on every instance. A verb invalidates after its commit and before it answers; what its message does not
 * reach hears of it from the database (`coherence/`).
 */
export interface ServiceCaches {
  /** How each has been used. */
  readonly usage: readonly CacheUsage[];
  application(id: string): Promise<ApplicationSnapshot | null>;
  license(keyHash: Sha256): Promise<LicenseSnapshot | null>;
  isBanned(applicationId: string, banType: BanType, value: string): Promise<boolean>;
  invalidateApplications(ids: readonly string[]): Promise<Told>;
  invalidateLicenses(keyHashes: readonly Uint8Array[]): Promise<Told>;
  /** For a write that changes more licenses of an application than are worth naming. */
  invalidateLicensesOf(applicationId: string): Promise<Told>;
  /** For a mint of more licenses than are worth naming: which of them were asked for before is not known. */
  invalidateUnknownLicenses(): Promise<Told>;
  invalidateBan(applicationId: string, banType: BanType, value: string): Promise<Told>;
}

/** Whether the other instances have been told of a change. If not, they find it in the database. */
export type Told = 'told' | 'not-told';

/** The group of what is remembered of keys that do not exist; no application has an empty id. */
const unknownLicenses = '';

const maxApplications = 1_000;
/** In lists of all bans of an application; and one by one, of applications that have too many for a list. */
const maxListedBans = 200_000;
const maxBans = 50_000;

export interface ServiceCachesOptions {
  readonly pool: Pool;
  readonly keyring: Keyring;
  readonly store: EphemeralStore;
  readonly watch: DatabaseWatch;
  readonly log: Pick<Logger, 'warn'>;
  readonly maxLicenses: number;
}

export function createServiceCaches({
  pool,
  keyring,
  store,
  watch,
  log,
  maxLicenses,
}: ServiceCachesOptions): ServiceCaches {
  const mayServe = () => watch.mayServe;
  const loadLicense = createLicenseLoader(pool);
  const applications = createCache<ApplicationSnapshot | null>({
    name: 'application',
    maxEntries: maxApplications,
    store,
    mayServe,
  });
  const licenses = createCache<LicenseSnapshot | null>({
    name: 'license',
    maxEntries: maxLicenses,
    groupOf: (_key, license) => license?.applicationId ?? unknownLicenses,
    store,
    mayServe,
  });
  const banLists = createCache<BanList>({
    name: 'ban-list',
    maxEntries: maxApplications,
    weight: { max: maxListedBans, of: banListSize },
    store,
    mayServe,
  });
  const bans = createCache<boolean>({
    name: 'ban',
    maxEntries: maxBans,
    groupOf: applicationOfBanKey,
    store,
    mayServe,
  });

  function forget({ cache, keys }: CacheChange): void {
    switch (cache) {
      case 'application':
        forgetKeys(applications, keys);
        break;
      case 'license':
        forgetKeys(licenses, keys);
        break;
      case 'license-of':
        forgetGroups(licenses, keys);
        break;
      case 'license-minted':
        licenses.forgetGroups([unknownLicenses]);
        break;
      case 'ban':
        forgetKeys(banLists, keys);
        forgetGroups(bans, keys);
        break;
      // Of open streams: see security-log/feed.ts and auth/ended-sessions.ts.
      case 'credentials':
      case 'logout':
      case 'log':
        break;
    }
  }
  watch.listen((changes) => {
    if (changes === 'all') for (const cache of [applications, licenses, banLists, bans]) cache.clear();
    else for (const change of changes) forget(change);
  });

  // The write is committed and its answer may hold keys that are shown once: it is not refused because the other
  // instances cannot be told yet. They are told as soon as the store answers again; those cut off from it serve nothing cached
  // meanwhile.
  const told = (published: Promise<void>): Promise<Told> =>
    published.then(
      () => 'told',
      (error: unknown) => {
        log.warn({ err: error }, 'Other instances will learn of a change later');
        return 'not-told';
      },
    );

  return {
    get usage() {
      return [applications, licenses, banLists, bans].map((cache) => cache.usage);
    },
    application: (id) => applications.get(id, () => loadApplicationSnapshot(pool, keyring, id)),
    license: (keyHash) => licenses.get(licenseCacheKey(keyHash), () => loadLicense(keyHash)),
    isBanned: async (applicationId, banType, value) => {
      const list = await banLists.get(applicationId, () => loadBanList(pool, applicationId));
      if (list !== 'too-many') return list[banType].has(value);
      return bans.get(banCacheKey(applicationId, banType, value), () =>
        loadIsBanned(pool, applicationId, banType, value),
      );
    },
    invalidateApplications: (ids) => told(applications.invalidate(ids)),
    invalidateLicenses: (keyHashes) => told(licenses.invalidate(keyHashes.map(licenseCacheKey))),
    invalidateLicensesOf: (applicationId) => told(licenses.invalidateGroups([applicationId])),
    invalidateUnknownLicenses: () => told(licenses.invalidateGroups([unknownLicenses])),
    invalidateBan: async (applicationId, banType, value) => {
      const both = await Promise.all([
        told(banLists.invalidate([applicationId])),
        told(bans.invalidate([banCacheKey(applicationId, banType, value)])),
      ]);
      return both.includes('not-told') ? 'not-told' : 'told';
    },
  };
}

function forgetKeys(cache: Pick<Cache<null>, 'clear' | 'forget'>, keys: CacheChange['keys']): void {
  if (keys === 'all') cache.clear();
  else cache.forget(keys);
}

function forgetGroups(cache: Pick<Cache<null>, 'clear' | 'forgetGroups'>, keys: CacheChange['keys']): void {
  if (keys === 'all') cache.clear();
  else cache.forgetGroups(keys);
}
