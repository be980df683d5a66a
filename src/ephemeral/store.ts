import type { RateLimitName } from './rate-limits.ts';

/** A named limit as configured: points for each key and 60-second window. */
export interface RateLimit {
  readonly name: RateLimitName;
  readonly points: number;
}

/** What a bucket says, in the terms of the `RateLimit-*` header fields. */
export interface RateLimitOutcome {
  readonly allowed: boolean;
  readonly limit: number;
  /** Points left in this window, never below 0. */
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1: fit for `Retry-After`. */
  readonly resetSeconds: number;
}

/** What a subscriber hears. */
export interface ChannelListener {
  /** A message that some instance published, this one included. */
  message(text: string): void;
  /** The subscription went down or came (back) up: messages may have been missed. */
  interrupted(): void;
}

export interface Subscription {
  /** True while every message published from now on will arrive. */
  readonly live: boolean;
}

/**
 * Short-lived state: what must be remembered for a minute or two, by one process or by many
 * instances of the service at once. Each operation is atomic across everything that shares the store.
 */
export interface EphemeralStore {
  /** True when other instances see the same state. */
  readonly shared: boolean;

  /**
   * Identifies what the store remembers. Another value means that it may have forgotten something (in-process: at each
   * start; Redis: when it came back empty, or is another process), or that the clock was set back, so that expired keys
   * matter again. What the replay guard protects must not outlive it, so the key of session tickets is derived under this
   * value.
   */
  readonly epoch: string;

  /**
   * Adds a key that then lives for `ttlSeconds`.
   * @returns true when the key was not there, for exactly one of any number of concurrent callers
   * @throws {StoreUnavailableError} when the store cannot answer; the key may have been added
   */
  addOnce(key: string, ttlSeconds: number): Promise<boolean>;

  /**
   * Takes points from the bucket of this name and key. The bucket is the same whatever
   * `points` says, whichever transport asks. Never rejects: see each store for what it does when
   * the shared bucket is out of reach.
   * @param points to take at once; where fewer are left than several, none is taken
   */
  consume(limit: RateLimit, key: string, points?: number): Promise<RateLimitOutcome>;

  /**
   * Looks without taking: `allowed` says whether a `consume` now would be. For limits that count
   * failures only (apiKeyAuth): peek before the attempt, consume after a failure, and answer the
   * failure by what that consume says; so that of a hundred parallel failures exactly `points`
   * are answered as failures and the rest as over the limit.
   */
  peek(limit: RateLimit, key: string): Promise<RateLimitOutcome>;

  /**
   * Tells every subscriber of the channel on every instance.
   * @param text the message
   * @throws {StoreUnavailableError} when it cannot be told now; the store does not try again
   */
  publish(channel: string, text: string): Promise<void>;

  /** Listens on a channel until the store is closed. Not live before its first `interrupted()` when shared. */
  subscribe(channel: string, listener: ChannelListener): Subscription;

  /** Whether the store answered lately: for health reports; it costs nothing to ask. */
  isAvailable(): boolean;

  /** Closes connections and timers. Afterwards `addOnce` and `publish` throw StoreUnavailableError. */
  close(): Promise<void>;
}

/** The store cannot answer now. What depends on the answer must be refused (503 UNAVAILABLE). */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
}
