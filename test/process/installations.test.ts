import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { noLimits } from '../api/support.ts';
import { hasRedisServer, OwnRedis } from '../ephemeral/support.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';

const patient = { timeout: 20_000, interval: 20 };

describe.skipIf(!hasRedisServer)('installations that share a Redis', () => {
  async function start(
    redisUrl: string,
    options: Parameters<typeof startTestServer>[0] = {},
  ): Promise<TestServer> {
    const env = { ...noLimits, REDIS_URL: redisUrl, ...options.env };
    const server = await startTestServer({ database: 'memory', ...options, env });
    onTestFinished(() => server.close());
    return server;
  }
  const storeOf = ({ deps }: TestServer) => deps.services.store;
  const limit = { name: 'auth', points: 5 } as const;

  test('have separate nonces, limits, epochs and channels, in any database of that Redis', async () => {
    const redis = await OwnRedis.start();
    const urls = [redis.url, redis.url, `${redis.url}/3`];
    const stores = (await Promise.all(urls.map((url) => start(url)))).map(storeOf);
    expect(new Set(stores.map(({ epoch }) => epoch)).size).toBe(3);
    const key = randomUUID();
    expect(await Promise.all(stores.map((store) => store.addOnce(key, 60)))).toEqual([true, true, true]);
    for (const store of stores) expect((await store.consume(limit, key)).remaining).toBe(4);
    const heard: string[] = [];
    for (const [index, store] of stores.entries()) {
      const subscription = store.subscribe('talk', {
        message: (text) => heard.push(`${index} heard ${text}`),
        interrupted: () => {},
      });
      await vi.waitFor(() => expect(subscription.live).toBe(true), patient);
    }
    for (const [index, store] of stores.entries()) await store.publish('talk', `${index}`);
    await vi.waitFor(() => expect(heard.length).toBeGreaterThanOrEqual(3), patient);
    // This answer arrives after all pending messages.
    for (const store of stores) await store.addOnce(randomUUID(), 60);
    expect(heard.sort()).toEqual(['0 heard 0', '1 heard 1', '2 heard 2']);
  }, 120_000);

  test('prefix their keys and channels with REDIS_PREFIX and their id', async () => {
    const redis = await OwnRedis.start();
    const { deps } = await start(redis.url, { env: { REDIS_PREFIX: 'shop.' } });
    const { rows } = await deps.services.database.pool.query<{ id: string }>('SELECT id FROM installation');
    const name = `shop.${rows[0]?.id}:`;
    await deps.services.store.addOnce('replay:x', 60);
    await deps.services.store.consume(limit, 'y');
    const subscription = deps.services.store.subscribe('talk', { message: () => {}, interrupted: () => {} });
    await vi.waitFor(() => expect(subscription.live).toBe(true), patient);
    const client = new Redis(redis.url);
    onTestFinished(() => client.disconnect());
    for (const [found, atLeast] of [
      [await client.keys('*'), 3],
      [await client.pubsub('CHANNELS'), 1],
    ] as const) {
      const names = found as string[];
      expect(names.length).toBeGreaterThanOrEqual(atLeast);
      expect(names.filter((each) => !each.startsWith(name))).toEqual([]);
    }
  }, 60_000);

  test.skipIf(process.env.TEST_DATABASE_URL === undefined)(
    'are one installation if instances start at the same time on one new database',
    async () => {
      const redis = await OwnRedis.start();
      const first = await start(redis.url, { database: 'server' });
      await first.deps.services.database.pool.query('DELETE FROM installation');
      const others = await Promise.all([0, 1, 2, 3].map(() => start(redis.url, { beside: first })));
      expect(new Set(others.map((server) => storeOf(server).epoch)).size).toBe(1);
    },
  );
});
