import type { Pool } from 'pg';
import type { Sha256 } from '../../crypto/hash.ts';
import type { Keyring } from '../../crypto/keyring.ts';
import { type CacheUsage, createCache } from '../../ephemeral/cache.ts';
import type { Clock } from '../../lib/clock.ts';
import { type ApplicationSnapshot, loadApplicationSnapshot } from '../application/snapshot.ts';
import { type BanList, banListSize, loadBanList } from '../ban/ban-list.ts';
import { applicationOfBanKey, type BanType, banCacheKey, loadIsBanned } from '../ban/is-banned.ts';
import { licenseCacheKey, type Outdated } from '../changes/change.ts';
import { createLicenseLoader, type LicenseSnapshot } from '../license/snapshot.ts';
import { isServed, type RevocationList, signRevocationList } from '../revocation/list.ts';

/**
 * What the hot path reads, in memory: bounded, with negative answers, and forgotten when it changes, whichever instance
 * changed it (`changes/`).
 */
export interface ServiceCaches {
  readonly usage: readonly CacheUsage[];
  application(id: string): Promise<ApplicationSnapshot | null>;
  license(keyHash: Sha256): Promise<LicenseSnapshot | null>;
  isBanned(applicationId: string, banType: BanType, value: string): Promise<boolean>;
  /** The list of an application's revoked leases, signed once a day and after each revocation; null without the application. */
  revocations(applicationId: string): Promise<RevocationList | null>;
}

/** The group of what is cached about keys that do not exist; no application has an empty id. */
const unknownLicenses = '';

const maxApplications = 1_000;
/**
 * A license weighs one, and one for each of its devices, of which it may have a thousand, and for each 300 characters of
 * its entitlements and metadata, of which it may have 23,000. Most have little of both.
 */
const weightOfUsual = 6;
const weightOf = (license: LicenseSnapshot | null): number => {
  if (license === null) return 1;
  const { devices, entitlements, clientMetadata } = license;
  const characters = JSON.stringify(entitlements).length + JSON.stringify(clientMetadata).length;
  return 1 + devices.length + Math.floor(characters / 300);
};
/** In lists of all bans of an application; and one by one, of applications that have too many for a list. */
const maxListedBans = 200_000;
const maxBans = 50_000;
/** In signed revocation lists. One with 1,000 licenses has 35,000. */
const maxRevocationCharacters = 32 * 2 ** 20;

export interface ServiceCachesOptions {
  readonly pool: Pool;
  readonly keyring: Keyring;
  /** Whether cached values may be served now. */
  readonly mayServe: () => boolean;
  readonly maxLicenses: number;
  readonly clock: Clock;
}

export function createServiceCaches({
  pool,
  keyring,
  mayServe,
  maxLicenses,
  clock,
}: ServiceCachesOptions): ServiceCaches & Outdated['caches'] {
  const loadLicense = createLicenseLoader(pool);
  const applications = createCache<ApplicationSnapshot | null>({
    name: 'application',
    maxEntries: maxApplications,
    mayServe,
  });
  const licenses = createCache<LicenseSnapshot | null>({
    name: 'license',
    maxEntries: maxLicenses,
    weight: { max: maxLicenses * weightOfUsual, of: weightOf },
    groupOf: (_key, license) => license?.applicationId ?? unknownLicenses,
    mayServe,
  });
  const banLists = createCache<BanList>({
    name: 'ban-list',
    maxEntries: maxApplications,
    weight: { max: maxListedBans, of: banListSize },
    mayServe,
  });
  const bans = createCache<boolean>({
    name: 'ban',
    maxEntries: maxBans,
    groupOf: applicationOfBanKey,
    mayServe,
  });

  const revocations = createCache<RevocationList | null>({
    name: 'revocations',
    maxEntries: maxApplications,
    weight: { max: maxRevocationCharacters, of: (list) => 1 + (list?.text.length ?? 0) },
    mayServe,
  });
  const findApplication = (id: string) =>
    applications.get(id, () => loadApplicationSnapshot(pool, keyring, id));
  const signRevocations = async (id: string) => {
    const application = await findApplication(id);
    return application === null ? null : signRevocationList(pool, application, clock.now());
  };

  return {
    get usage() {
      return [applications, licenses, banLists, bans, revocations].map((cache) => cache.usage);
    },
    application: findApplication,
    license: (keyHash) => licenses.get(licenseCacheKey(keyHash), () => loadLicense(keyHash)),
    isBanned: async (applicationId, banType, value) => {
      const list = await banLists.get(applicationId, () => loadBanList(pool, applicationId));
      if (list !== 'too-many') return list[banType].has(value);
      return bans.get(banCacheKey(applicationId, banType, value), () =>
        loadIsBanned(pool, applicationId, banType, value),
      );
    },
    revocations: async (id) => {
      const list = revocations.peek(id) ?? null;
      if (list !== null && !isServed(list, clock.now())) revocations.forget([id]);
      return revocations.get(id, () => signRevocations(id));
    },
    forgetApplications: (ids) => {
      applications.forget(ids);
      revocations.forget(ids);
    },
    forgetLicenses: licenses.forget,
    forgetLicensesOf: licenses.forgetGroups,
    forgetUnknownLicenses: () => licenses.forgetGroups([unknownLicenses]),
    forgetBansOf: (applicationIds) => {
      banLists.forget(applicationIds);
      bans.forgetGroups(applicationIds);
    },
    clear: () => {
      for (const cache of [applications, licenses, banLists, bans, revocations]) cache.clear();
    },
  };
}
