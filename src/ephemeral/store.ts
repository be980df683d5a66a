import type { RateLimitName } from './rate-limits.ts';

/** A named limit as configured: points per key and 60-second window. */
export interface RateLimit {
  readonly name: RateLimitName;
  readonly points: number;
}

/** The state of a bucket, in the terms of the `RateLimit-*` header fields. */
export interface RateLimitOutcome {
  readonly allowed: boolean;
  readonly limit: number;
  /** Points left in this window, at least 0. */
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1, for `Retry-After`. */
  readonly resetSeconds: number;
}

export interface ChannelListener {
  /** Called for each message, including those that this instance published. */
  message(text: string): void;
  /** Called when the subscription becomes live or stops being live: messages may have been missed. */
  interrupted(): void;
}

export interface Subscription {
  /** Whether every message published from now on will arrive. */
  readonly live: boolean;
}

/**
 * State that lasts a minute or two, of one process or of all instances. Each operation is atomic across everything that
 * shares the store.
 */
export interface EphemeralStore {
  /** Whether other instances use the same state. */
  readonly shared: boolean;

  /**
   * Identifies what the store remembers. It changes when the store may have forgotten something (in memory: at each start;
   * in Redis: if it lost data or is another process), or when the clock was set back, so that expired keys matter again.
   * The key of session tickets is derived from it, because sessions must not outlive their nonces.
   */
  readonly epoch: string;

  /**
   * Adds a key that expires after `ttlSeconds`.
   * @returns true if the key did not exist: for exactly one of any number of concurrent callers
   * @throws {StoreUnavailableError} if the store does not answer; the key may have been added
   */
  addOnce(key: string, ttlSeconds: number): Promise<boolean>;

  /**
   * Takes points from the bucket of this name and key, whatever the transport. Never rejects: without its shared state, a
   * store counts locally.
   * @param points several points are taken all or none. Default 1
   */
  consume(limit: RateLimit, key: string, points?: number): Promise<RateLimitOutcome>;

  /**
   * Whether `consume` would be allowed now, without taking a point. For limits that count only failures (apiKeyAuth): call
   * it before the attempt, and `consume` after a failure, whose result decides the answer. Of a hundred parallel failures,
   * exactly `points` are then answered as failures and the others as over the limit.
   */
  peek(limit: RateLimit, key: string): Promise<RateLimitOutcome>;

  /**
   * Sends a text to all subscribers of the channel on all instances.
   * @throws {StoreUnavailableError} if it cannot be sent now; the store does not retry
   */
  publish(channel: string, text: string): Promise<void>;

  /** Subscribes to a channel until the store is closed. If shared, it is not live before its first `interrupted()`. */
  subscribe(channel: string, listener: ChannelListener): Subscription;

  /** Whether the store is available, without a query: for health reports. */
  isAvailable(): boolean;

  /** Closes connections and timers. Afterwards `addOnce` and `publish` throw StoreUnavailableError. */
  close(): Promise<void>;
}

/** The store does not answer. Requests that depend on it must be refused (503 UNAVAILABLE). */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
}
