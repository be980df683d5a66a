import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRedisStore } from '../../src/ephemeral/redis.ts';
import { parseRedisUrl } from '../../src/ephemeral/redis-address.ts';
import type { EphemeralStore } from '../../src/ephemeral/store.ts';
import { ask, cutReplication, detectionMilliseconds, OwnSentinels } from '../setup/own-redis.ts';
import { freePort, hasRedisServer, OwnRedis } from './support.ts';

const keyPrefix = 'test:';
const patient = { timeout: 60_000, interval: 20 };
/** Far above what an outage lasts beyond its detection on an idle machine, which is a second or two. */
const longOutage = detectionMilliseconds + 30_000;

async function open(url: string): Promise<EphemeralStore> {
  const store = await createRedisStore({ address: parseRedisUrl(url), keyPrefix });
  onTestFinished(() => store.close());
  return store;
}

/** Adds a nonce again and again until a server has accepted it, and returns the slowest refusal in milliseconds. */
async function untilAdded(store: EphemeralStore, nonce: string): Promise<number> {
  let slowest = 0;
  for (const end = performance.now() + longOutage; ; ) {
    const begin = performance.now();
    expect(begin, 'the outage ends').toBeLessThan(end);
    const isNew = await store.addOnce(nonce, 60).catch(() => null);
    if (isNew === true) return slowest;
    slowest = Math.max(slowest, performance.now() - begin);
    await sleep(5);
  }
}

describe.skipIf(!hasRedisServer)('with sentinels', () => {
  let sentinels: OwnSentinels;
  beforeAll(async () => {
    sentinels = await OwnSentinels.start();
  });
  afterAll(() => sentinels.close());

  test('all instances use the master that they name', async () => {
    const [store, other] = [await open(sentinels.url), await open(`${sentinels.url}/0`)];
    expect(await store.addOnce('shared', 60)).toBe(true);
    expect(await other.addOnce('shared', 60)).toBe(false);
    expect(other.epoch).toBe(store.epoch);
    const heard = vi.fn();
    const subscription = other.subscribe('news', { message: heard, interrupted: () => {} });
    await vi.waitFor(() => expect(subscription.live).toBe(true), patient);
    await store.publish('news', 'text');
    await vi.waitFor(() => expect(heard).toHaveBeenCalledWith('text'), patient);
  });

  test('a sentinel that hangs, or is gone, is passed over', async () => {
    const [first, ...others] = sentinels.sentinelPorts;
    const hanging = sentinels.sentinel(0);
    hanging.kill('SIGSTOP');
    onTestFinished(() => void hanging.kill('SIGCONT'));
    const hosts = [first, await freePort(), others[0]].map((port) => `127.0.0.1:${port}`);
    const store = await open(`redis+sentinel://${hosts.join(',')}/${OwnSentinels.masterName}`);
    expect(store.isAvailable()).toBe(true);
  });

  test('what cannot be used is named, without the credentials', async () => {
    const port = await freePort();
    const messageOf = async (url: string) => {
      const error: unknown = await open(url).catch((reason: unknown) => reason);
      const shown = JSON.stringify(error, Object.getOwnPropertyNames(error));
      expect(shown).not.toMatch(/pa55word|somebody/);
      return String(error);
    };
    expect(await messageOf(`redis+sentinel://somebody:pa55word@127.0.0.1:${port}/primary`)).toContain(
      `no sentinel names the master (127.0.0.1:${port} cannot be asked (ECONNREFUSED))`,
    );
    expect(await messageOf(sentinels.url.replace(/primary$/, 'another'))).toContain(
      'knows no master "another"',
    );
    // The sentinels have no password, and neither has Redis.
    expect(await messageOf(sentinels.url.replace('//', '//:pa55word@'))).toMatch(
      /refuses \(ERR\): set sentinelUser and sentinelPassword/,
    );
    expect(await messageOf(`${sentinels.url.replace('//', '//:pa55word@')}?sentinelPassword=`)).toMatch(
      /does not accept the user name and password of REDIS_URL/,
    );
    expect(await messageOf(`${sentinels.url}/99`)).toContain('has no database 99');
    const master = await sentinels.master();
    expect(await messageOf(`redis+sentinel://127.0.0.1:${master.port}/primary`)).toContain(
      'is not a sentinel',
    );
    expect(await messageOf(`redis://127.0.0.1:${sentinels.sentinelPorts[0]}`)).toContain(
      'if it is a sentinel, set REDIS_URL to redis+sentinel://',
    );
  });

  test('after a failover to a replica that lacks the last nonces, none is accepted under the old epoch', async () => {
    const [store, other] = [await open(sentinels.url), await open(sentinels.url)];
    const master = await sentinels.master();
    await cutReplication(master);
    for (const each of [store, other]) expect(each.isAvailable()).toBe(true);
    const before = store.epoch;
    expect(await store.addOnce('unknown to the replicas', 60)).toBe(true);
    expect(await other.addOnce('unknown to the replicas', 60)).toBe(false);
    await master.kill();
    await untilAdded(store, 'unknown to the replicas');
    expect(store.epoch, 'the sessions of before have ended').not.toBe(before);
    await vi.waitFor(() => expect(other.epoch).toBe(store.epoch), patient);
    expect(await other.addOnce('unknown to the replicas', 60)).toBe(false);
    await sentinels.restart(master);
  }, 120_000);

  test('a master that hangs is replaced, and refusals do not wait for it', async () => {
    const store = await open(sentinels.url);
    const master = await sentinels.master();
    const before = store.epoch;
    master.freeze();
    const slowest = await untilAdded(store, crypto.randomUUID());
    // About a second, if the machine is idle: the first command has to find out.
    expect(slowest).toBeLessThan(5_000);
    expect(store.epoch).not.toBe(before);
    // Each sentinel learns of it in its own time.
    await vi.waitFor(async () => expect(await sentinels.master()).not.toBe(master), patient);
  }, 120_000);
});

describe.skipIf(!hasRedisServer)('what a sentinel says', () => {
  test('is asked again at a start during a failover', async () => {
    const [dead, master] = [{ port: await freePort() }, await OwnRedis.start()];
    const unhandled = vi.spyOn(console, 'error');
    onTestFinished(() => unhandled.mockRestore());
    let asked = 0;
    const sentinel = await sentinelThatNames(() => {
      asked += 1;
      return asked === 1 ? dead : master;
    });
    // A start gives up after one attempt for each sentinel.
    const other = await sentinelThatNames(() => master);
    const store = await open(`redis+sentinel://${sentinel},${other}/primary`);
    expect(await store.addOnce('nonce', 60)).toBe(true);
    expect(unhandled, 'a line that is not of the log').not.toHaveBeenCalled();
  });

  test('and why there is no master, is logged, but not at each attempt', async () => {
    const master = await OwnRedis.start();
    const warn = vi.fn();
    const store = await createRedisStore({
      address: parseRedisUrl(`redis+sentinel://${await sentinelThatNames(() => master)}/primary`),
      keyPrefix,
      log: { debug: () => {}, info: () => {}, warn },
    });
    onTestFinished(() => store.close());
    await ask(master.port, (client) => client.config('SET', 'min-replicas-to-write', '1'));
    await vi.waitFor(() => expect(store.isAvailable()).toBe(false), patient);
    // Longer than two attempts.
    await sleep(2_500);
    expect(warn.mock.calls).toEqual([
      [{ reason: 'NOREPLICAS' }, expect.stringMatching(/^Redis "primary" of .* is unavailable/)],
    ]);
  });

  test('is checked: a replica is not taken for the master', async () => {
    const master = await OwnRedis.start();
    const replica = await OwnRedis.copyOf(master);
    const [outdated, right] = [await sentinelThatNames(() => replica), await sentinelThatNames(() => master)];
    const store = await open(`redis+sentinel://${outdated},${right}/primary`);
    expect(await store.addOnce('nonce', 60)).toBe(true);
    expect(await ask(master.port, (client) => client.keys(`${keyPrefix}*`))).toContain(`${keyPrefix}nonce`);
    await expect(open(`redis+sentinel://${outdated}/primary`)).rejects.toThrow(
      /^Redis "primary" of the sentinels at .* cannot be used: the server that they name is a replica/,
    );
  });

  test('is asked once for both connections: sentinels that cannot reach each other name different masters', async () => {
    const masters = [await OwnRedis.start(), await OwnRedis.start()];
    let asked = 0;
    const store = await open(
      `redis+sentinel://${await sentinelThatNames(() => {
        asked += 1;
        return masters[asked % 2] ?? { port: 0 };
      })}/primary`,
    );
    for (const turn of [1, 2]) {
      const message = vi.fn();
      const subscription = store.subscribe(`news ${turn}`, { message, interrupted: () => {} });
      await vi.waitFor(() => expect(subscription.live).toBe(true), patient);
      await vi.waitFor(async () => {
        await store.publish(`news ${turn}`, 'text');
        expect(message).toHaveBeenCalled();
      }, patient);
      // After the loss of both connections too.
      for (const { port } of masters)
        await ask(port, (client) => client.call('CLIENT', 'KILL', 'TYPE', 'normal'));
    }
  });

  test('is asked again while the master refuses writes, as one does that its replicas have left', async () => {
    const [one, another] = [await OwnRedis.start(), await OwnRedis.start()];
    let named = one;
    const store = await open(`redis+sentinel://${await sentinelThatNames(() => named)}/primary`);
    const subscription = store.subscribe('news', { message: () => {}, interrupted: () => {} });
    await vi.waitFor(() => expect(subscription.live).toBe(true), patient);
    await ask(one.port, (client) => client.config('SET', 'min-replicas-to-write', '1'));
    await vi.waitFor(() => expect(store.isAvailable()).toBe(false), patient);
    named = another;
    await vi.waitFor(() => expect(store.isAvailable()).toBe(true), patient);
    // Both connections have moved: the messages of other instances arrive there.
    await vi.waitFor(async () => {
      const heard = await ask(another.port, (client) => client.publish(`${keyPrefix}news`, 'text'));
      expect(heard).toBe(1);
    }, patient);
  });
});

test.skipIf(!hasRedisServer)(
  'a Redis that does not allow INFO is refused, because a failover would not be noticed',
  async () => {
    const warnings = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    onTestFinished(() => warnings.mockRestore());
    const redis = await OwnRedis.start(...'--user default on nopass ~* &* +@all -info'.split(' '));
    await expect(open(`redis+sentinel://${await sentinelThatNames(() => redis)}/primary`)).rejects.toThrow(
      /does not allow INFO.*grant \+info/,
    );
  },
);

/** A sentinel that can be wrong: its host and port. */
async function sentinelThatNames(master: () => Pick<OwnRedis, 'port'>): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => {
      const port = String(master().port);
      socket.write(`*2\r\n$9\r\n127.0.0.1\r\n$${port.length}\r\n${port}\r\n`);
    });
  });
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `127.0.0.1:${port}`;
}
