import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { type Clock, systemClock } from '../lib/clock.ts';
import { createExpiringSet } from './expiring-set.ts';
import { type EphemeralStore, StoreUnavailableError } from './store.ts';
import { createMemoryWindows } from './windows.ts';

export interface MemoryStoreOptions {
  /** For the expiry of `addOnce` keys. Rate limit windows use the monotonic clock. */
  readonly clock?: Clock;
  /** Maximum number of `addOnce` keys; beyond it the store refuses new ones. */
  readonly maxKeys?: number;
  /** Maximum number of rate limit windows; beyond it the oldest is dropped. */
  readonly maxWindows?: number;
}

/**
 * The epoch ends if the clock is set back by more than this, in milliseconds, because a forgotten nonce may belong to an
 * envelope that is fresh again. The replay guard remembers nonces for four seconds longer than envelopes are accepted.
 */
const maxStepBackMilliseconds = 3_000;

/** More than a process can fill: 16,000 requests a second for 125 s, the lifetime of a nonce. */
const defaultMaxKeys = 2_000_000;

/** Creates a store in the bounded memory of this process. */
export function createMemoryStore(options: MemoryStoreOptions = {}): EphemeralStore {
  const { clock = systemClock, maxKeys = defaultMaxKeys, maxWindows } = options;
  const keys = createExpiringSet(clock, maxKeys);
  const channels = new EventEmitter().setMaxListeners(0);
  let closed = false;
  let epoch = randomUUID();
  /** The latest time at which a key was added in this epoch. */
  let latest = clock.now();

  function currentEpoch(): string {
    const now = clock.now();
    if (now < latest - maxStepBackMilliseconds) {
      epoch = randomUUID();
      latest = now;
    }
    return epoch;
  }

  function requireOpen(): void {
    if (closed) throw new StoreUnavailableError('The store of this process is closed.');
  }

  return {
    ...createMemoryWindows(maxWindows),
    shared: false,
    get epoch() {
      return currentEpoch();
    },
    async addOnce(key, ttlSeconds) {
      requireOpen();
      currentEpoch();
      latest = Math.max(latest, clock.now());
      return keys.addOnce(key, ttlSeconds);
    },
    async publish(channel, text) {
      requireOpen();
      channels.emit(channel, text);
    },
    subscribe(channel, listener) {
      channels.on(channel, (text: string) => listener.message(text));
      return {
        get live() {
          return !closed;
        },
      };
    },
    isAvailable: () => !closed,
    async close() {
      closed = true;
    },
  };
}
