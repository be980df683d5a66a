import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRedisStore } from '../../src/ephemeral/redis.ts';
import { parseRedisUrl } from '../../src/ephemeral/redis-address.ts';
import { heartbeatMilliseconds } from '../../src/ephemeral/redis-connection.ts';
import { createReplayGuard, replayMemorySeconds } from '../../src/ephemeral/replay-guard.ts';
import { type EphemeralStore, StoreUnavailableError } from '../../src/ephemeral/store.ts';
import { type Relay, startRelay } from '../setup/relay.ts';
import { freePort, hasRedisServer, OwnRedis, redisInstances, redisUrl } from './support.ts';

const keyPrefix = 'test:';
const patient = { timeout: 20_000, interval: 20 };

describe('a Redis that cannot be used at start', () => {
  test('is named by host and port, without the credentials', async () => {
    const port = await freePort();
    const opening = createRedisStore({
      address: parseRedisUrl(`redis://somebody:pa55word@127.0.0.1:${port}/3`),
      keyPrefix,
    });
    await expect(opening).rejects.toThrow(StoreUnavailableError);
    const error: unknown = await opening.catch((reason: unknown) => reason);
    expect(String(error)).toContain(`127.0.0.1:${port}`);
    expect(String(error)).toContain('ECONNREFUSED');
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(/pa55word|somebody/);
  });

  test('is refused within seconds if it accepts the connection and never answers', async () => {
    const url = await listen(createServer(() => {}));
    await expect(createRedisStore({ address: parseRedisUrl(url), keyPrefix })).rejects.toThrow(
      /no answer in time|connection lost/,
    );
  });

  test('is named in the error if it hangs before it has identified itself', async () => {
    const answer = (socket: Socket, asked: string): void => {
      for (const command of asked.split(/\*\d+\r\n/).slice(1)) {
        if (/cluster/i.test(command)) socket.removeAllListeners('data');
        if (socket.listenerCount('data') === 0) return;
        socket.write(/\r\ninfo/i.test(command) ? '$9\r\nloading:0\r\n' : '+OK\r\n');
      }
    };
    const url = await listen(
      createServer((socket) => socket.on('data', (data) => answer(socket, String(data)))),
    );
    const opening = createRedisStore({ address: parseRedisUrl(url), keyPrefix });
    await expect(opening).rejects.toThrow(StoreUnavailableError);
    await expect(opening).rejects.toThrow(
      /127\.0\.0\.1:\d+ did not answer: (no answer in time|connection lost)/,
    );
  });

  test.skipIf(!hasRedisServer)(
    'is refused if it requires another password, and the error contains none',
    async () => {
      const redis = await OwnRedis.start('--requirepass', 'right');
      const error: unknown = await createRedisStore({
        address: parseRedisUrl(redis.url.replace('//', '//:pa55word@')),
        keyPrefix,
      }).catch((reason: unknown) => reason);
      expect(String(error)).toMatch(/cannot be used: (WRONGPASS|NOAUTH)/);
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('pa55word');
    },
  );
});

describe.skipIf(!hasRedisServer)('a Redis that does not match REDIS_URL is refused at start', () => {
  const messageOf = async (url: string) => {
    const error: unknown = await createRedisStore({ address: parseRedisUrl(url), keyPrefix }).then(
      (store) => store.close(),
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(StoreUnavailableError);
    const shown = JSON.stringify(error, Object.getOwnPropertyNames(error));
    expect(shown).not.toContain('pa55word');
    return shown;
  };

  test('because of a database number that it does not have', async () => {
    const redis = await OwnRedis.start();
    expect(await messageOf(`${redis.url}/99`)).toContain(`127.0.0.1:${redis.port} has no database 99`);
    expect(await messageOf(`${redis.url}/99`)).toContain('Correct REDIS_URL');
  });

  test.each([':pa55word@', 'default:pa55word@', 'somebody:pa55word@'])(
    'because of the credentials %s if it requires none',
    async (credentials) => {
      const redis = await OwnRedis.start();
      expect(await messageOf(redis.url.replace('//', `//${credentials}`))).toContain(
        `127.0.0.1:${redis.port}`,
      );
    },
  );

  test('because it is part of a cluster, which would refuse most requests', async () => {
    const redis = await OwnRedis.start(...clusterOptions());
    const shown = await messageOf(redis.url);
    expect(shown).toContain(`127.0.0.1:${redis.port} is a part of a Redis Cluster`);
    expect(shown).toContain('REDIS_URL');
  });

  test('because it is part of a cluster, even if it does not allow INFO', async () => {
    const redis = await OwnRedis.start(
      ...clusterOptions(),
      ...'--user default on nopass ~* &* +@all -info'.split(' '),
    );
    const warnings = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    onTestFinished(() => warnings.mockRestore());
    expect(await messageOf(redis.url)).toContain('is a part of a Redis Cluster');
  });

  test('but not a cluster of one master, which stores every key', async () => {
    const redis = await OwnRedis.start(...clusterOptions());
    const client = new Redis(redis.url);
    onTestFinished(() => client.disconnect());
    await client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await vi.waitFor(async () => expect(await client.cluster('INFO')).toContain('cluster_state:ok'), patient);
    const store = await open(redis.url);
    for (const nonce of ['a', 'b', 'c']) expect(await store.addOnce(nonce, 60)).toBe(true);
    expect(await store.addOnce('b', 60)).toBe(false);
  });

  test('but not with the right credentials and database', async () => {
    const redis = await OwnRedis.start('--requirepass', 'pa55word');
    for (const credentials of [':pa55word@', 'default:pa55word@']) {
      const store = await open(`${redis.url.replace('//', `//${credentials}`)}/3`);
      expect(store.isAvailable()).toBe(true);
    }
  });
});

describe.skipIf(redisUrl === undefined)('in Redis', () => {
  test('a nonce is stored for longer than the 121 seconds in which its envelope can be accepted', async () => {
    const { client, keyPrefix, open } = redisInstances(redisUrl ?? '');
    await createReplayGuard(await open()).firstUse('session', new Uint8Array(16));
    const keys = await client.keys(`${keyPrefix}replay:*`);
    expect(keys).toHaveLength(1);
    expect(await client.ttl(keys[0] ?? '')).toBeGreaterThan(replayMemorySeconds - 30);
    expect(replayMemorySeconds).toBeGreaterThan(121);
  });

  test('a window is opened for 60 seconds, and a new one begins when it has ended', async () => {
    const { client, keyPrefix, open } = redisInstances(redisUrl ?? '');
    const store = await open();
    const limit = { name: 'auth', points: 1 } as const;
    await store.consume(limit, 'client');
    const [key] = await client.keys(`${keyPrefix}limit:*`);
    expect(await client.pttl(key ?? '')).toBeGreaterThan(30_000);
    expect(await client.pttl(key ?? '')).toBeLessThanOrEqual(60_000);
    expect(await store.consume(limit, 'client')).toMatchObject({ allowed: false });
    await client.pexpire(key ?? '', 1);
    await vi.waitFor(async () => expect(await client.exists(key ?? '')).toBe(0), patient);
    expect(await store.consume(limit, 'client')).toMatchObject({ allowed: true });
  });

  test('installations with different prefixes do not share keys', async () => {
    const one = await redisInstances(redisUrl ?? '').open();
    const two = await redisInstances(redisUrl ?? '').open();
    expect(await one.addOnce('key', 60)).toBe(true);
    expect(await two.addOnce('key', 60)).toBe(true);
  });

  test('a flushed epoch is replaced, and every instance uses the new one', async () => {
    const { client, keyPrefix, open } = redisInstances(redisUrl ?? '');
    const [store, other] = [await open(), await open()];
    const before = store.epoch;
    await client.del(`${keyPrefix}epoch`);
    await vi.waitFor(() => {
      expect(store.epoch).not.toBe(before);
      expect(other.epoch).toBe(store.epoch);
    }, patient);
  });
});

describe.skipIf(!hasRedisServer)('a Redis that answers but refuses writes', () => {
  const refusals = [
    ['as it is full', 'maxmemory', '1', '0'],
    ['as it has lost its replicas', 'min-replicas-to-write', '1', '0'],
  ] as const;

  test.each(refusals)('%s, is unavailable until it accepts writes again', async (_, name, refuse, take) => {
    const { redis, store } = await ownStore();
    const operator = new Redis(redis.url);
    onTestFinished(() => operator.disconnect());
    const before = store.epoch;
    expect(store.isAvailable()).toBe(true);
    await operator.config('SET', name, refuse);
    await vi.waitFor(() => expect(store.isAvailable()).toBe(false), patient);
    await expect(store.addOnce('key', 60)).rejects.toThrow(StoreUnavailableError);
    await operator.config('SET', name, take);
    await vi.waitFor(() => expect(store.isAvailable()).toBe(true), patient);
    expect(await store.addOnce('key', 60)).toBe(true);
    expect(store.epoch, 'nothing was forgotten').toBe(before);
  });
});

describe.skipIf(!hasRedisServer)('a Redis that was restarted from an older dump', () => {
  const key = 'a nonce of after the dump';

  test('has a new epoch, the same on every instance', async () => {
    const redis = await OwnRedis.start('--dir', temporaryDirectory());
    const stores = [await open(redis.url), await open(redis.url)] as const;
    const before = stores[0].epoch;
    const operator = new Redis(redis.url);
    await operator.save();
    operator.disconnect();
    expect(await stores[0].addOnce(key, 60)).toBe(true);
    await redis.kill();
    await vi.waitFor(() => expect(stores.some((store) => store.isAvailable())).toBe(false), patient);
    await redis.start();
    for (const store of stores) {
      await vi.waitFor(() => expect(store.isAvailable()).toBe(true), patient);
      expect(store.epoch).not.toBe(before);
    }
    expect(await stores[0].addOnce(key, 60), 'the dump is older').toBe(true);
    expect(stores[0].epoch).toBe(stores[1].epoch);
    expect((await open(redis.url)).epoch, 'and stays while this server runs').toBe(stores[0].epoch);
  });

  test('keeps its epoch if INFO is not allowed', async () => {
    const warnings = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    onTestFinished(() => warnings.mockRestore());
    const user = '--user default on nopass ~* &* +@all -info'.split(' ');
    const redis = await OwnRedis.start('--dir', temporaryDirectory(), ...user);
    const store = await open(redis.url);
    const before = store.epoch;
    const operator = new Redis(redis.url);
    await operator.save();
    operator.disconnect();
    await redis.kill();
    await vi.waitFor(() => expect(store.isAvailable()).toBe(false), patient);
    await redis.start();
    await vi.waitFor(() => expect(store.isAvailable()).toBe(true), patient);
    expect(store.epoch).toBe(before);
  });
});

describe.skipIf(!hasRedisServer)(
  'a Redis that became a replica and was promoted again without a restart',
  () => {
    const key = 'a nonce that the other one has not';

    test('has a new epoch, the same on every instance', { tags: 'slow' }, async () => {
      const redis = await OwnRedis.start();
      const stores = [await open(redis.url), await open(redis.url)] as const;
      const older = await OwnRedis.copyOf(redis);
      await older.promote();
      const before = await steadyEpoch(stores[0]);
      expect(await stores[0].addOnce(key, 60)).toBe(true);
      await redis.replicate(older);
      await redis.promote();
      for (const store of stores) {
        await vi.waitFor(() => {
          expect(store.isAvailable()).toBe(true);
          expect(store.epoch).not.toBe(before);
        }, patient);
      }
      expect(await stores[0].addOnce(key, 60), 'the other one has never had it').toBe(true);
      const after = await steadyEpoch(stores[0]);
      expect(stores[1].epoch).toBe(after);
      expect((await open(redis.url)).epoch, 'and stays while its data is not replaced').toBe(after);
    });

    test('is not used under the old epoch after it was seen as a replica', async () => {
      const redis = await OwnRedis.start();
      const store = await open(redis.url);
      const older = await OwnRedis.copyOf(redis);
      await older.promote();
      const before = await steadyEpoch(store);
      await redis.replicate(older);
      await vi.waitFor(() => expect(store.isAvailable()).toBe(false), patient);
      await redis.promote();
      // Requests without a pause: the first response must already have the new epoch.
      for (;;) {
        if ((await store.addOnce(crypto.randomUUID(), 60).catch(() => null)) !== null) break;
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      expect(store.epoch).not.toBe(before);
    });

    test('as in a failover: a replica that takes over keeps the data under another epoch', {
      tags: 'slow',
    }, async () => {
      const redis = await OwnRedis.start();
      const replica = await OwnRedis.copyOf(redis);
      const gate = await relayTo(redis);
      const store = await open(gate.url);
      const before = await steadyEpoch(store);
      await redis.kill();
      await vi.waitFor(() => expect(store.isAvailable()).toBe(false), patient);
      await replica.promote();
      gate.aim(replica.url);
      await vi.waitFor(() => expect(store.isAvailable()).toBe(true), patient);
      expect(store.epoch).not.toBe(before);
      const after = await steadyEpoch(store);
      expect(await store.addOnce(key, 60)).toBe(true);
      expect(await store.addOnce(key, 60)).toBe(false);
      expect(store.epoch, 'and is forgotten no more').toBe(after);
    });
  },
);

describe.skipIf(!hasRedisServer)('when Redis becomes unavailable', () => {
  test('the replay guard refuses, and accepts again after it is back', async () => {
    const { redis, store } = await ownStore();
    const guard = createReplayGuard(store);
    expect(await guard.firstUse('session', new Uint8Array(16))).toBe(true);
    await redis.kill();
    await expect(guard.firstUse('session', new Uint8Array([1]))).rejects.toThrow(StoreUnavailableError);
    await vi.waitFor(() => expect(store.isAvailable()).toBe(false), patient);
    await redis.start();
    await vi.waitFor(() => expect(store.isAvailable()).toBe(true), patient);
    expect(await guard.firstUse('session', new Uint8Array([2]))).toBe(true);
    expect(await guard.firstUse('session', new Uint8Array([2]))).toBe(false);
  });

  test('a server that came back empty gets another epoch before it is used', async () => {
    const { redis, store } = await ownStore();
    const before = store.epoch;
    await redis.kill();
    await vi.waitFor(() => expect(store.isAvailable()).toBe(false), patient);
    await redis.start();
    // Requests without a pause: the first response of the new server must already have the new epoch.
    for (;;) {
      const answered = await store.addOnce(crypto.randomUUID(), 60).catch(() => null);
      if (answered !== null) break;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(store.epoch).not.toBe(before);
  });

  test('a nonce checked by a server that has lost its data in between is refused', async () => {
    let epoch = 'before';
    const forgetful = {
      get epoch() {
        return epoch;
      },
      addOnce: async () => {
        epoch = 'after';
        return true;
      },
    };
    const guard = createReplayGuard(forgetful);
    await expect(guard.firstUse('session', new Uint8Array(16))).rejects.toThrow(StoreUnavailableError);
  });

  test('rate limits are counted in the process', async () => {
    const { redis, store } = await ownStore();
    const limit = { name: 'auth', points: 3 } as const;
    await redis.kill();
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => store.consume(limit, 'client')));
    expect(outcomes.filter(({ allowed }) => allowed)).toHaveLength(3);
    expect(await store.peek(limit, 'client')).toMatchObject({ allowed: false });
    await redis.start();
    await vi.waitFor(() => expect(store.isAvailable()).toBe(true), patient);
    // A restarted server has lost its scripts too.
    expect(await store.consume(limit, 'client')).toMatchObject({ allowed: true, remaining: 2 });
  });

  test('requests to a hanging Redis fail after about a second, then at once', async () => {
    const { redis, store } = await ownStore();
    redis.freeze();
    onTestFinished(() => redis.thaw());
    const start = performance.now();
    await expect(store.addOnce('key', 60)).rejects.toThrow(StoreUnavailableError);
    // Far above the second that it takes here, far below the client's own timeout of many seconds.
    expect(performance.now() - start).toBeLessThan(5000);
    await vi.waitFor(() => expect(store.isAvailable()).toBe(false), patient);
    const again = performance.now();
    for (let count = 0; count < 100; count += 1) {
      await expect(store.addOnce('key', 60)).rejects.toThrow(StoreUnavailableError);
    }
    expect(performance.now() - again).toBeLessThan(5000);
    redis.thaw();
    await vi.waitFor(() => expect(store.isAvailable()).toBe(true), patient);
    expect(await store.addOnce('another key', 60)).toBe(true);
  });
});

const clusterOptions = (): string[] => ['--cluster-enabled', 'yes', '--dir', temporaryDirectory()];

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-redis-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function open(url: string): Promise<EphemeralStore> {
  const store = await createRedisStore({ address: parseRedisUrl(url), keyPrefix });
  onTestFinished(() => store.close());
  return store;
}

/** The epoch, after it was the same for three polls of the store: a first replica changes a Redis's replication id. */
async function steadyEpoch(store: EphemeralStore): Promise<string> {
  for (;;) {
    const { epoch } = store;
    await sleep(3 * heartbeatMilliseconds);
    if (store.epoch === epoch && store.isAvailable()) return epoch;
  }
}

/** A relay to a Redis, so that one of its clients can lose it. */
async function relayTo(redis: OwnRedis): Promise<Relay> {
  const relay = await startRelay(redis.url);
  onTestFinished(() => relay.close());
  return relay;
}

async function ownStore(): Promise<{ redis: OwnRedis; store: EphemeralStore }> {
  const redis = await OwnRedis.start();
  return { redis, store: await open(redis.url) };
}

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return `redis://127.0.0.1:${address.port}`;
}
