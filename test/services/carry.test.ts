import { setImmediate } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createCache } from '../../src/ephemeral/cache.ts';
import { createRedisStore } from '../../src/ephemeral/redis.ts';
import { parseRedisUrl } from '../../src/ephemeral/redis-address.ts';
import type { ChannelListener } from '../../src/ephemeral/store.ts';
import { type Carry, createCarry, type PendingEntry } from '../../src/services/changes/carry.ts';
import type { Change, Changes } from '../../src/services/changes/change.ts';
import { deferred, hasRedisServer, OwnRedis } from '../ephemeral/support.ts';
import { silent } from '../setup/database.ts';

const patient = { timeout: 20_000, interval: 20 };
const license = (...keys: string[]): Change => ({ cache: 'license', keys });

/** Instances on one channel, in this process. */
function channel() {
  const listeners: ChannelListener[] = [];
  const state = { live: true };
  const sent: string[] = [];
  let publishing: Promise<void> = Promise.resolve();
  const deliver = (text: string) => {
    for (const { message } of listeners) message(text);
  };
  const store = {
    publish: async (_channel: string, text: string) => {
      sent.push(text);
      await publishing;
      deliver(text);
    },
    subscribe: (_channel: string, listener: ChannelListener) => {
      listeners.push(listener);
      return state;
    },
  };
  return {
    join() {
      const changed: Changes[] = [];
      const pending: [string, readonly PendingEntry[]][] = [];
      const carry = createCarry(store, silent, {
        changed: (changes) => changed.push(changes),
        pending: (...held) => pending.push(held),
      });
      return { carry, changed, pending };
    },
    sent,
    deliver,
    publishTakes: (promise: Promise<void>) => {
      publishing = promise;
    },
    setLive(live: boolean) {
      state.live = live;
      for (const { interrupted } of listeners) interrupted();
    },
  };
}

test('what one instance sends the others hear, and it does not', async () => {
  const { join } = channel();
  const [here, there] = [join(), join()];
  expect(await here.carry.send([license('a', 'b'), { cache: 'ban', keys: ['c'] }])).toBe('told');
  expect(there.changed.flat()).toMatchObject([license('a', 'b'), { cache: 'ban', keys: ['c'] }]);
  const held = [{ applicationId: null, id: 'an entry' }];
  await here.carry.sendPending(held);
  expect(there.pending).toEqual([[expect.any(String), held]]);
  expect([here.changed, here.pending]).toEqual([[], []]);
});

test('it says when the others have been told, or could not be', async () => {
  const { join, publishTakes } = channel();
  const { carry } = join();
  const published = deferred<void>();
  publishTakes(published.promise);
  let told: string | undefined;
  const sending = carry.send([license('a')]).then((outcome) => {
    told = outcome;
  });
  await setImmediate();
  expect(told).toBeUndefined();
  published.resolve();
  await sending;
  expect(told).toBe('told');
  publishTakes(Promise.reject(new Error('Redis is away')));
  expect(await carry.send([license('a')])).toBe('not-told');
});

test.each(['', 'null', '{"from":"other","keys":[1]}', '{"from":"other","cache":"tomorrow","keys":["a"]}'])(
  'a message that cannot be read, such as `%s`, may mean everything',
  (text) => {
    const { join, deliver } = channel();
    const { changed } = join();
    deliver(text);
    expect(changed).toEqual(['all']);
  },
);

test('when it is back after an interruption, everything may have changed', () => {
  const { join, setLive } = channel();
  const { carry, changed } = join();
  setLive(false);
  expect([carry.isLive, changed]).toEqual([false, []]);
  setLive(true);
  expect([carry.isLive, changed]).toEqual([true, ['all']]);
});

describe.skipIf(!hasRedisServer)('over Redis', () => {
  /** An instance with a cache, as `caches.ts` has it. */
  async function join(url: string) {
    const store = await createRedisStore({ address: parseRedisUrl(url), keyPrefix: 'test:' });
    onTestFinished(() => store.close());
    const cache = createCache<number>({ name: 'numbers', maxEntries: 10, mayServe: () => carry.isLive });
    const carry: Carry = createCarry(store, silent, {
      changed: (changes) => {
        if (changes === 'all') cache.clear();
        else for (const { keys } of changes) if (keys !== 'all') cache.forget(keys);
      },
      pending: () => undefined,
    });
    let loads = 0;
    const load = async () => {
      loads += 1;
      return loads;
    };
    const serving = () =>
      vi.waitFor(async () => {
        await cache.get('key', load);
        expect(cache.peek('key')).toBeDefined();
      }, patient);
    return { store, cache, carry, load, serving, loads: () => loads };
  }

  test('what one instance sends the other forgets', async () => {
    const { url } = await OwnRedis.start();
    const [writer, reader] = [await join(url), await join(url)];
    await writer.serving();
    await reader.serving();
    const cached = reader.cache.peek('key');
    await writer.carry.send([license('another key')]);
    expect(reader.cache.peek('key')).toBe(cached);
    await writer.carry.send([license('key')]);
    await vi.waitFor(() => expect(reader.cache.peek('key')).toBeUndefined(), patient);
  });

  test('nothing cached is served until the subscription is back, and nothing from before it', async () => {
    const redis = await OwnRedis.start();
    const { store, cache, load, loads, serving } = await join(redis.url);
    await serving();
    const cached = cache.peek('key');
    expect(cached).toBe(loads());
    await redis.kill();
    await vi.waitFor(() => expect(cache.peek('key')).toBeUndefined(), patient);
    for (const _time of ['first', 'second']) expect(await cache.get('key', load)).toBe(loads());
    expect(loads()).toBe(Number(cached) + 2);
    await redis.start();
    await vi.waitFor(() => expect(store.isAvailable()).toBe(true), patient);
    await serving();
    expect(cache.peek('key')).toBe(loads());
    expect(loads()).toBeGreaterThan(Number(cached) + 2);
  });

  test('nothing cached is served when Redis falls silent without closing the connection', async () => {
    const redis = await OwnRedis.start();
    const { cache, serving } = await join(redis.url);
    await serving();
    redis.freeze();
    onTestFinished(() => redis.thaw());
    await vi.waitFor(() => expect(cache.peek('key')).toBeUndefined(), patient);
  });
});
