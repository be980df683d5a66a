import { type ClockPair, createStepBackDetector } from '../lib/clock-steps.ts';
import type { Logger } from '../lib/log.ts';
import { defaultMaxWindows } from './memory.ts';
import { createConnection, failureOf, openConnection, redisAddress } from './redis-connection.ts';
import { createRedisEpoch } from './redis-epoch.ts';
import { createRedisSubscriptions } from './redis-subscriptions.ts';
import { createRedisWindows } from './redis-windows.ts';
import { type EphemeralStore, StoreUnavailableError } from './store.ts';
import { createMemoryWindows } from './windows.ts';

export interface RedisStoreOptions {
  /** `redis://` or `rediss://`, with credentials and database number where needed. */
  readonly url: string;
  /**
   * Starts the name of every key and channel. Of one installation alone, so that several can share a server: channels
   * are the same for all of its databases.
   */
  readonly keyPrefix: string;
  /** Where steps of the clock are noticed; the system's when left out. */
  readonly clocks?: ClockPair;
  /** Hears when Redis goes away and comes back. */
  readonly log?: Pick<Logger, 'debug' | 'info' | 'warn'>;
}

/**
 * Short-lived state that all instances with this Redis and prefix share.
 *
 * While Redis is away (noticed at once when the connection closes, within a second when it falls silent)
 * `addOnce` and `publish` throw StoreUnavailableError, subscriptions are not live, and rate limits are counted
 * in this process: each instance then grants the full limit. Refusing everybody would be worse: a limit guards
 * against floods, and the local one still does.
 *
 * @throws {StoreUnavailableError} when Redis cannot be used at start, naming host and port
 */
export async function createRedisStore(options: RedisStoreOptions): Promise<EphemeralStore> {
  const { url, keyPrefix, clocks, log } = options;
  const address = redisAddress(url);
  const redis = createConnection(url);
  const subscriber = createConnection(url);
  const epoch = createRedisEpoch(redis, { url, key: `${keyPrefix}epoch` });
  try {
    await openConnection(redis, url);
    await epoch.known();
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
  const insurance = createMemoryWindows(defaultMaxWindows);

  const wasSetBack = createStepBackDetector(clocks);
  // Redis has forgotten nonces whose envelopes are fresh again by this clock: the sessions that they belong to end.
  function noticeStep(): void {
    if (!wasSetBack()) return;
    log?.warn('The clock was set back: sessions of client software end and are opened again');
    epoch.renew();
  }

  let away = false;
  let closed = false;
  redis.on('close', () => {
    if (away || closed) return;
    away = true;
    log?.warn(`Redis at ${address} is away; replay checks refuse, rate limits count in this process`);
  });
  redis.on('ready', () => {
    away = false;
    log?.info(`Redis at ${address} is back`);
  });

  async function ask<Answer>(command: () => Promise<Answer>): Promise<Answer> {
    if (!epoch.isKnown()) throw new StoreUnavailableError(`Redis at ${address} is away.`);
    try {
      return await command();
    } catch (error) {
      throw new StoreUnavailableError(`Redis at ${address} did not answer: ${failureOf(error)}.`);
    }
  }

  return {
    shared: true,
    get epoch() {
      noticeStep();
      return epoch.current();
    },
    async addOnce(key, ttlSeconds) {
      noticeStep();
      return (await ask(() => redis.set(keyPrefix + key, '1', 'EX', ttlSeconds, 'NX'))) === 'OK';
    },
    async consume(limit, key, points) {
      try {
        return await windows.consume(limit, key, points);
      } catch (error) {
        log?.debug(`Redis at ${address} did not count (${failureOf(error)}): counted in this process`);
        return insurance.consume(limit, key, points);
      }
    },
    async peek(limit, key) {
      try {
        return await windows.peek(limit, key);
      } catch {
        return insurance.peek(limit, key);
      }
    },
    async publish(channel, text) {
      await ask(() => redis.publish(keyPrefix + channel, text));
    },
    subscribe: subscriptions.subscribe,
    isAvailable: epoch.isKnown,
    async close() {
      closed = true;
      epoch.close();
      subscriptions.close();
      redis.disconnect();
    },
  };
}
