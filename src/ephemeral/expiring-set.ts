import type { Clock } from '../lib/clock.ts';
import { StoreUnavailableError } from './store.ts';

/** Keys that are remembered until they expire, and never forgotten before. */
export interface ExpiringSet {
  /**
   * @returns true when the key was not there
   * @throws {StoreUnavailableError} at the bound, when nothing has expired
   */
  addOnce(key: string, ttlSeconds: number): boolean;
  readonly size: number;
}

/**
 * Holds at most `maxKeys`. At the bound it refuses rather than forgets: a nonce forgotten early is a
 * replay admitted, so a flood may cost availability but never that.
 */
export function createExpiringSet(clock: Clock, maxKeys: number): ExpiringSet {
  const expiries = new Map<string, number>();
  let oldestFirst = expiries.keys();
  let oldest: string | undefined;
  let nextSweepAt = 0;

  /**
   * With one lifetime in use, the order of insertion is the order of expiry: two a call keep pace with one added.
   * The iterator is kept, since a new one would first step over every hole that deletions left.
   */
  function dropFromFront(now: number): void {
    for (let count = 0; count < 2; count += 1) {
      oldest ??= oldestFirst.next().value;
      if (oldest === undefined) {
        if (expiries.size === 0) expiries.clear();
        oldestFirst = expiries.keys();
        return;
      }
      const expiry = expiries.get(oldest);
      if (expiry !== undefined && expiry > now) return;
      expiries.delete(oldest);
      oldest = undefined;
    }
  }

  /** With several lifetimes a long one can hide expired ones behind it. At most once a second: it walks the whole map. */
  function sweep(now: number): void {
    if (now < nextSweepAt) return;
    nextSweepAt = now + 1000;
    for (const [key, expiry] of expiries) if (expiry <= now) expiries.delete(key);
  }

  return {
    addOnce(key, ttlSeconds) {
      const now = clock.now();
      dropFromFront(now);
      const expiry = expiries.get(key);
      if (expiry !== undefined && expiry > now) return false;
      if (expiry === undefined && expiries.size >= maxKeys) {
        sweep(now);
        if (expiries.size >= maxKeys) {
          throw new StoreUnavailableError(
            `The in-process store holds ${maxKeys} keys, its bound; it takes more as they expire.`,
          );
        }
      }
      // Deleted first, so that a key renewed stands at the end again.
      expiries.delete(key);
      expiries.set(key, now + ttlSeconds * 1000);
      return true;
    },
    get size() {
      return expiries.size;
    },
  };
}
