import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRedisStore } from '../../src/ephemeral/redis.ts';
import { parseRedisUrl } from '../../src/ephemeral/redis-address.ts';
import type { EphemeralStore } from '../../src/ephemeral/store.ts';
import { ask, cutReplication, OwnCluster } from '../setup/own-redis.ts';
import { freePort, hasRedisServer, OwnRedis } from './support.ts';

const keyPrefix = 'test:cluster:';
const patient = { timeout: 60_000, interval: 20 };

async function open(url: string, prefix = keyPrefix): Promise<EphemeralStore> {
  const store = await createRedisStore({ address: parseRedisUrl(url), keyPrefix: prefix });
  onTestFinished(() => store.close());
  return store;
}

describe.skipIf(!hasRedisServer)('with a cluster of three masters', () => {
  let cluster: OwnCluster;
  let slot: number;
  beforeAll(async () => {
    cluster = await OwnCluster.start();
    slot = await ask(cluster.servers[0]?.port ?? 0, (client) => client.cluster('KEYSLOT', 'test:cluster'));
  });
  afterAll(() => cluster.close());

  test('all keys of an installation are on one master, and its instances share them', async () => {
    const [store, other] = [await open(cluster.url), await open(cluster.url)];
    const limit = { name: 'auth', points: 3 } as const;
    for (let count = 0; count < 20; count += 1) {
      expect(await store.addOnce(`shared ${count}`, 60)).toBe(true);
      expect(await other.addOnce(`shared ${count}`, 60)).toBe(false);
    }
    // An IPv6 network is counted in several buckets, by one script.
    const counted = [];
    for (const each of [store, other, store, other]) counted.push(await each.consume(limit, '2001:db8::/64'));
    expect(counted.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
    expect(other.epoch).toBe(store.epoch);
    const heard = vi.fn();
    const subscription = other.subscribe('news', { message: heard, interrupted: () => {} });
    await vi.waitFor(() => expect(subscription.live).toBe(true), patient);
    await store.publish('news', 'text');
    await vi.waitFor(() => expect(heard).toHaveBeenCalledWith('text'), patient);
    const owner = await cluster.owner(slot);
    for (const server of await cluster.masters()) {
      const keys = await ask(server.port, (client) => client.keys('*test:cluster*'));
      expect(keys.length > 0, String(server.port)).toBe(server === owner);
      for (const key of keys) expect(key).toMatch(/^\{test:cluster\}:/);
    }
  });

  test('installations have their own slots, so that a cluster can serve several from several masters', async () => {
    const [store, other] = [await open(cluster.url), await open(cluster.url, 'test:another:')];
    expect(await store.addOnce('own', 60)).toBe(true);
    expect(await other.addOnce('own', 60)).toBe(true);
  });

  test('nodes that are gone are passed over, and a node that is in no cluster is named', async () => {
    const gone = `127.0.0.1:${await freePort()}`;
    const known = `127.0.0.1:${cluster.servers[1]?.port}`;
    const store = await open(`redis+cluster://${gone},${known}`);
    expect(store.isAvailable()).toBe(true);
    const single = await OwnRedis.start();
    await expect(open(`redis+cluster://127.0.0.1:${single.port},${gone}`)).rejects.toThrow(
      `no node names the master (127.0.0.1:${single.port} is not part of a cluster; ${gone} cannot be asked (ECONNREFUSED))`,
    );
  });

  test('a node that names hosts in another way is understood, or passed over', async () => {
    const [first, second] = cluster.servers;
    if (first === undefined || second === undefined) throw new Error('There are no nodes');
    const name = (server: OwnRedis, how: string) =>
      ask(server.port, (client) => client.config('SET', 'cluster-preferred-endpoint-type', how));
    onTestFinished(async () => {
      for (const server of [first, second]) await name(server, 'ip');
    });
    const url = `redis+cluster://127.0.0.1:${first.port}`;
    // Without a host: where it is itself. By a host name that was not set: unusable.
    await name(first, 'unknown-endpoint');
    expect((await open(url)).isAvailable()).toBe(true);
    await name(first, 'hostname');
    await expect(open(url)).rejects.toThrow(/knows no owner of slot/);
    expect((await open(`${url},127.0.0.1:${second.port}`)).isAvailable()).toBe(true);
  });

  test('the user of an ACL needs the hash tag in its patterns', async () => {
    const commands =
      '+@read +@write +@scripting +@pubsub +@connection +info +time +cluster|slots +cluster|keyslot';
    for (const { port } of cluster.servers) {
      for (const [user, pattern] of [
        ['tagged', '{test:'],
        ['untagged', 'test:'],
      ] as const) {
        const rules = ['on', '>pa55word', `~${pattern}*`, `&${pattern}*`, ...commands.split(' ')];
        await ask(port, (client) => client.call('ACL', 'SETUSER', user, ...rules));
      }
    }
    const urlOf = (user: string) => cluster.url.replace('//', `//${user}:pa55word@`);
    expect(await (await open(urlOf('tagged'))).addOnce('of a user', 60)).toBe(true);
    await expect(open(urlOf('untagged'))).rejects.toThrow(/cannot be written to: NOPERM/);
    const wrong = open(urlOf('tagged').replace('pa55word', 'wr0ngword'));
    await expect(wrong).rejects.toThrow(/WRONGPASS/);
    await expect(wrong).rejects.not.toThrow(/wr0ngword/);
  });

  test('redis:// is refused, and the error names redis+cluster://', async () => {
    const url = `redis://127.0.0.1:${cluster.servers[0]?.port}`;
    await expect(open(url)).rejects.toThrow(/Set REDIS_URL to redis\+cluster:\/\/ with some of its nodes/);
  });

  test('while the slot moves to another master and after it, no nonce is accepted twice', async () => {
    const [store, other] = [await open(cluster.url), await open(cluster.url)];
    const subscription = store.subscribe('news', { message: () => {}, interrupted: () => {} });
    const from = await cluster.owner(slot);
    const target = (await cluster.masters()).find((server) => server !== from);
    if (target === undefined) throw new Error('There is no other master');
    const before = store.epoch;
    const seen: string[] = [];
    let [replays, accepted] = [0, 0];
    const ended = new AbortController();
    /** Sends new nonces through one instance, and each again through the other, in the same epoch. */
    const traffic = (async () => {
      while (!ended.signal.aborted) {
        const nonce = crypto.randomUUID();
        const epoch = store.epoch;
        if ((await store.addOnce(nonce, 60).catch(() => false)) && store.epoch === epoch) {
          accepted += 1;
          seen.push(nonce);
          const again = other.epoch === epoch && (await other.addOnce(nonce, 60).catch(() => false));
          if (again && other.epoch === epoch) replays += 1;
        }
        await sleep(1);
      }
    })();
    await vi.waitFor(() => expect(accepted).toBeGreaterThan(100), patient);
    await cluster.move(slot, target);
    await vi.waitFor(() => {
      for (const each of [store, other]) {
        expect(each.isAvailable()).toBe(true);
        expect(each.epoch).not.toBe(before);
      }
    }, patient);
    const soFar = accepted;
    await vi.waitFor(() => expect(accepted).toBeGreaterThan(soFar + 100), patient);
    ended.abort();
    await traffic;
    expect(replays).toBe(0);
    for (const nonce of seen) expect(await other.addOnce(nonce, 60), 'the nonces have moved too').toBe(false);
    // Messages of instances that have found the new master arrive, too.
    await vi.waitFor(() => expect(subscription.live).toBe(true), patient);
    await vi.waitFor(async () => {
      const subscribers = await ask(target.port, (client) =>
        client.call('PUBSUB', 'NUMSUB', '{test:cluster}:news'),
      );
      expect(JSON.stringify(subscribers)).toContain('1');
    }, patient);
  });

  test('after a failover to a replica that lacks the last nonces, none is accepted under the old epoch', async () => {
    const [store, other] = [await open(cluster.url), await open(cluster.url)];
    const owner = await cluster.owner(slot);
    await cutReplication(owner);
    const before = store.epoch;
    expect(await store.addOnce('unknown to the replica', 60)).toBe(true);
    expect(await other.addOnce('unknown to the replica', 60)).toBe(false);
    await owner.kill();
    await vi.waitFor(async () => {
      expect(await store.addOnce('unknown to the replica', 60).catch(() => null)).toBe(true);
    }, patient);
    expect(store.epoch, 'the sessions of before have ended').not.toBe(before);
    await vi.waitFor(() => expect(other.epoch).toBe(store.epoch), patient);
    expect(await other.addOnce('unknown to the replica', 60)).toBe(false);
  });
});
