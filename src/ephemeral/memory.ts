import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../lib/clock.ts';
import { createExpiringSet } from './expiring-set.ts';
import { type ChannelListener, type EphemeralStore, StoreUnavailableError } from './store.ts';
import { createMemoryWindows } from './windows.ts';

export interface MemoryStoreOptions {
  /** Judges the expiry of `addOnce` keys. Rate-limit windows run on the process's own clock. */
  readonly clock?: Clock;
  /** Bound of `addOnce`; beyond it the store refuses. */
  readonly maxKeys?: number;
  /** Bound of open rate-limit windows; beyond it the oldest is dropped. */
  readonly maxWindows?: number;
}

/**
 * A clock that was set back by more than this ends the epoch, in milliseconds: a nonce that expired before may belong to
 * an envelope that is fresh again. The replay guard remembers nonces for four seconds longer than envelopes are taken.
 */
const stepBackMilliseconds = 3_000;

/** More than a process can fill: 125 s (the replay guard's memory) of 16,000 requests a second. */
export const defaultMaxKeys = 2_000_000;
export const defaultMaxWindows = 100_000;

/** Short-lived state of one process, in bounded memory, gone when it ends. */
export function createMemoryStore(options: MemoryStoreOptions = {}): EphemeralStore {
  const clock = options.clock ?? systemClock;
  const keys = createExpiringSet(clock, options.maxKeys ?? defaultMaxKeys);
  const windows = createMemoryWindows(options.maxWindows ?? defaultMaxWindows);
  const listeners = new Map<string, ChannelListener[]>();
  let closed = false;
  let epoch = randomUUID();
  let latest = clock.now();

  function currentEpoch(): string {
    const now = clock.now();
    if (now < latest - stepBackMilliseconds) {
      epoch = randomUUID();
      latest = now;
    }
    return epoch;
  }

  function requireOpen(): void {
    if (closed) throw new StoreUnavailableError('The in-process store is closed.');
  }

  return {
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
    consume: windows.consume,
    peek: windows.peek,
    async publish(channel, text) {
      requireOpen();
      for (const listener of listeners.get(channel) ?? []) listener.message(text);
    },
    subscribe(channel, listener) {
      listeners.set(channel, [...(listeners.get(channel) ?? []), listener]);
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
