import type { Clock } from '../lib/clock.ts';
import { StoreUnavailableError } from './store.ts';

/** Keys that are remembered until they expire, and never removed earlier. */
export interface ExpiringSet {
  /**
   * Adds a key.
   * @returns true if the key was not in the set
   * @throws {StoreUnavailableError} if the set is full
   */
  addOnce(key: string, ttlSeconds: number): boolean;
  readonly size: number;
}

/**
 * Creates a set of at most `maxKeys` keys. A full set refuses new keys instead of removing old ones, because a nonce that is
 * removed early admits a replay.
 */
export function createExpiringSet(clock: Clock, maxKeys: number): ExpiringSet {
  const expiries = new Map<string, number>();
  /** Kept, because a new iterator would first skip the holes that deletions left. */
  let oldestFirst = expiries.keys();
  let oldest: string | undefined;
  let nextSweepAt = 0;

  /** If all keys have the same lifetime, the first ones expire first. Removing two per call keeps pace with additions. */
  function removeFromFront(now: number): void {
    for (let count = 0; count < 2; count += 1) {
      oldest ??= oldestFirst.next().value;
      if (oldest === undefined) {
        if (expiries.size === 0) expiries.clear();
        oldestFirst = expiries.keys();
        return;
      }
      if ((expiries.get(oldest) ?? now) > now) return;
      expiries.delete(oldest);
      oldest = undefined;
    }
  }

  /** Removes keys that expire before an older one. It scans the whole set, so it runs at most once a second. */
  function sweep(now: number): void {
    if (now < nextSweepAt) return;
    nextSweepAt = now + 1000;
    for (const [key, expiry] of expiries) if (expiry <= now) expiries.delete(key);
  }

  return {
    addOnce(key, ttlSeconds) {
      const now = clock.now();
      removeFromFront(now);
      if ((expiries.get(key) ?? now) > now) return false;
      // An expired key is moved to the end.
      expiries.delete(key);
      if (expiries.size >= maxKeys) sweep(now);
      if (expiries.size >= maxKeys) {
        throw new StoreUnavailableError(
          `The store of this process is full (${maxKeys} keys). It accepts new keys as old ones expire.`,
        );
      }
      expiries.set(key, now + ttlSeconds * 1000);
      return true;
    },
    get size() {
      return expiries.size;
    },
  };
}
