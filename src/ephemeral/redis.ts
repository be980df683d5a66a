import { type ClockPair, createStepBackDetector } from '../lib/clock-steps.ts';
import { createFailureLog } from '../lib/failure-log.ts';
import type { Logger } from '../lib/log.ts';
import { keyPrefixAt, nameOfRedis, type RedisAddress } from './redis-address.ts';
import { createConnections, openConnection } from './redis-connection.ts';
import { createRedisEpoch } from './redis-epoch.ts';
import { commandError, failureOf, reasonOf } from './redis-failure.ts';
import { createRedisSubscriptions } from './redis-subscriptions.ts';
import { createRedisWindows } from './redis-windows.ts';
import { type EphemeralStore, StoreUnavailableError } from './store.ts';
import { createMemoryWindows } from './windows.ts';

export interface RedisStoreOptions {
  readonly address: RedisAddress;
  /**
   * Precedes every key and channel, in a cluster as a hash tag. Unique to an installation, so that several can share a
   * server.
   */
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
 * @throws {StoreUnavailableError} with the hosts, if Redis cannot be used at start
 */
export async function createRedisStore(options: RedisStoreOptions): Promise<EphemeralStore> {
  const { address, clocks, log } = options;
  const name = nameOfRedis(address);
  const keyPrefix = keyPrefixAt(address, options.keyPrefix);
  const epochKey = `${keyPrefix}epoch`;
  const { redis, subscriber } = createConnections(address, epochKey);
  let isUsable = false;
  let [isOpen, isClosed] = [false, false];
  const failures = createFailureLog();
  const epoch = createRedisEpoch({
    redis,
    address,
    key: epochKey,
    onUsable() {
      if (isOpen && !isUsable) log?.info(`${name} is available again`);
      isUsable = true;
      failures.succeeded();
    },
    onUnusable(cause) {
      // A start that fails says so itself.
      if (!isOpen || isClosed) return;
      isUsable = false;
      failures.failed(() =>
        log?.warn(
          { reason: reasonOf(cause) },
          `${name} is unavailable; replay checks refuse, rate limits are counted locally`,
        ),
      );
    },
  });
  // Both connections must be to one server: a cluster or a demoted master may leave the other one open.
  redis.on('close', () => {
    // `wait`: it has not been opened yet, and `disconnect` would connect it before anything listens to it.
    if (address.kind !== 'single' && !isClosed && subscriber.status !== 'wait') subscriber.disconnect(true);
  });
  try {
    await openConnection(redis, address);
    await epoch.load();
    await openConnection(subscriber, address);
    isOpen = true;
  } catch (error) {
    isClosed = true;
    epoch.close();
    redis.disconnect();
    subscriber.disconnect();
    throw error;
  }
  const subscriptions = createRedisSubscriptions(subscriber, keyPrefix, (error) =>
    log?.warn(`${name} refuses a subscription (${failureOf(error)}); nothing is cached meanwhile`),
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

  async function run<Answer>(command: () => Promise<Answer>): Promise<Answer> {
    if (!epoch.isKnown()) throw new StoreUnavailableError(`${name} is unavailable.`);
    try {
      return await command();
    } catch (error) {
      throw commandError(address, error);
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
        log?.debug(`${name} did not count (${failureOf(error)}): counted in this process`);
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
      isClosed = true;
      epoch.close();
      subscriptions.close();
      redis.disconnect();
    },
  };
}
