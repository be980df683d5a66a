import type { Pool } from 'pg';
import type { Sha256 } from '../crypto/hash.ts';
import type { Keyring } from '../crypto/keyring.ts';
import { createCache } from '../ephemeral/cache.ts';
import type { EphemeralStore } from '../ephemeral/store.ts';
import type { Logger } from '../lib/log.ts';
import { type ApplicationSnapshot, loadApplicationSnapshot } from './application/snapshot.ts';
import { type BanType, banCacheKey, loadIsBanned } from './ban/is-banned.ts';
import { type LicenseSnapshot, licenseCacheKey, loadLicenseSnapshot } from './license/snapshot.ts';

/**
 * What the hot path reads, kept in memory: bounded, negative answers too, and invalidated by every write that
 * changes it, on every instance. A verb invalidates after its commit and before it answers.
 */
export interface ServiceCaches {
  application(id: string): Promise<ApplicationSnapshot | null>;
  license(keyHash: Sha256): Promise<LicenseSnapshot | null>;
  isBanned(applicationId: string, banType: BanType, value: string): Promise<boolean>;
  invalidateApplication(id: string): Promise<void>;
  invalidateLicenses(keyHashes: readonly Uint8Array[]): Promise<void>;
  /** For writes that change more licenses than are worth naming. */
  invalidateAllLicenses(): Promise<void>;
  invalidateBan(applicationId: string, banType: BanType, value: string): Promise<void>;
}

const maxApplications = 1_000;
const maxLicenses = 50_000;
const maxBans = 50_000;

export function createServiceCaches(
  pool: Pool,
  keyring: Keyring,
  store: EphemeralStore,
  log: Logger,
): ServiceCaches {
  const applications = createCache<ApplicationSnapshot | null>({
    name: 'application',
    maxEntries: maxApplications,
    store,
  });
  const licenses = createCache<LicenseSnapshot | null>({ name: 'license', maxEntries: maxLicenses, store });
  const bans = createCache<boolean>({ name: 'ban', maxEntries: maxBans, store });

  // The write is committed and its answer may hold keys that are shown once: it is not refused because the other
  // instances cannot be told yet. They are told as soon as the store answers again; those cut off from it serve nothing cached
  // meanwhile.
  const told = (published: Promise<void>): Promise<void> =>
    published.catch((error: unknown) =>
      log.warn({ err: error }, 'Other instances will learn of a change later'),
    );

  return {
    application: (id) => applications.get(id, () => loadApplicationSnapshot(pool, keyring, id)),
    license: (keyHash) => licenses.get(licenseCacheKey(keyHash), () => loadLicenseSnapshot(pool, keyHash)),
    isBanned: (applicationId, banType, value) =>
      bans.get(banCacheKey(applicationId, banType, value), () =>
        loadIsBanned(pool, applicationId, banType, value),
      ),
    invalidateApplication: (id) => told(applications.invalidate([id])),
    invalidateLicenses: (keyHashes) => told(licenses.invalidate(keyHashes.map(licenseCacheKey))),
    invalidateAllLicenses: () => told(licenses.invalidateAll()),
    invalidateBan: (applicationId, banType, value) =>
      told(bans.invalidate([banCacheKey(applicationId, banType, value)])),
  };
}
