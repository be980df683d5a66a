import { type ClockPair, createStepBackDetector } from '../lib/clock-steps.ts';
import type { Logger } from '../lib/log.ts';
import {
  commandError,
  createConnection,
  failureOf,
  openConnection,
  redisAddress,
} from './redis-connection.ts';
import { createRedisEpoch } from './redis-epoch.ts';
import { createRedisSubscriptions } from './redis-subscriptions.ts';
import { createRedisWindows } from './redis-windows.ts';
import { type EphemeralStore, StoreUnavailableError } from './store.ts';
import { createMemoryWindows } from './windows.ts';

export interface RedisStoreOptions {
  /** `redis://` or `rediss://`, with credentials and database number if needed. */
  readonly url: string;
  /** Precedes every key and channel. Unique to an installation, so that several can share a server. */
  readonly keyPrefix: string;
  /** For detecting that the wall clock was set back. Default: the system's clocks. */
  readonly clocks?: ClockPair;
  readonly log?: Pick<Logger, 'debug' | 'info' | 'warn'>;
}

/**
 * Creates a store that all instances with this Redis and prefix share.
 *
 * While Redis is unavailable, `addOnce` and `publish` throw StoreUnavailableError, subscriptions are not live, and each
 * instance counts rate limits by itself and grants the full limit. Refusing all requests would be worse: limits protect
 * against floods, and local ones still do. A closed connection is detected at once, a dead one within a second.
 *
 * @throws {StoreUnavailableError} with host and port, if Redis cannot be used at start
 */
export async function createRedisStore(options: RedisStoreOptions): Promise<EphemeralStore> {
  const { url, keyPrefix, clocks, log } = options;
  const address = redisAddress(url);
  const redis = createConnection(url);
  const subscriber = createConnection(url);
  const epoch = createRedisEpoch(redis, url, `${keyPrefix}epoch`);
  try {
    await openConnection(redis, url);
    await epoch.load();
    await openConnection(subscriber, url);
  } catch (error) {
    epoch.close();
    redis.disconnect();
    subscriber.disconnect();
    throw error;
  }
  const subscriptions = createRedisSubscriptions(subscriber, keyPrefix, (error) =>
    log?.warn(
      `Redis at ${address} refuses a subscription (${failureOf(error)}); nothing is cached meanwhile`,
    ),
  );
  const windows = createRedisWindows(redis, `${keyPrefix}limit:`);
  const localWindows = createMemoryWindows();

  const wasSetBack = createStepBackDetector(clocks);
  // Redis has forgotten nonces whose envelopes are fresh again by this clock, so their sessions must end.
  function checkClock(): void {
    if (!wasSetBack()) return;
    log?.warn('The clock was set back: sessions of client software end and are reopened');
    epoch.renew();
  }

  let wasLost = false;
  redis.on('close', () => {
    if (!wasLost)
      log?.warn(`Redis at ${address} is unavailable; replay checks refuse, rate limits are counted locally`);
    wasLost = true;
  });
  redis.on('ready', () => {
    wasLost = false;
    log?.info(`Redis at ${address} is available again`);
  });

  async function run<Answer>(command: () => Promise<Answer>): Promise<Answer> {
    if (!epoch.isKnown()) throw new StoreUnavailableError(`Redis at ${address} is unavailable.`);
    try {
      return await command();
    } catch (error) {
      throw commandError(url, error);
    }
  }

  return {
    shared: true,
    get epoch() {
      checkClock();
      return epoch.current();
    },
    async addOnce(key, ttlSeconds) {
      checkClock();
      return (await run(() => redis.set(keyPrefix + key, '1', 'EX', ttlSeconds, 'NX'))) === 'OK';
    },
    async consume(limit, key, points) {
      try {
        return await windows.consume(limit, key, points);
      } catch (error) {
        log?.debug(`Redis at ${address} did not count (${failureOf(error)}): counted in this process`);
        return localWindows.consume(limit, key, points);
      }
    },
    peek: (limit, key) => windows.peek(limit, key).catch(() => localWindows.peek(limit, key)),
    async publish(channel, text) {
      await run(() => redis.publish(keyPrefix + channel, text));
    },
    subscribe: subscriptions.subscribe,
    isAvailable: epoch.isKnown,
    async close() {
      wasLost = true;
      epoch.close();
      subscriptions.close();
      redis.disconnect();
    },
  };
}
