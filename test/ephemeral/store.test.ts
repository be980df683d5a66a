import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { createMemoryStore } from '../../src/ephemeral/memory.ts';
import { createReplayGuard } from '../../src/ephemeral/replay-guard.ts';
import type { EphemeralStore } from '../../src/ephemeral/store.ts';
import { redisInstances, redisUrl } from './support.ts';

/** Two instances of the service with shared state; in memory there is only one. */
type OpenTwo = () => Promise<readonly [EphemeralStore, EphemeralStore]>;

const openInMemory: OpenTwo = async () => {
  const store = createMemoryStore();
  return [store, store];
};
const openInRedis: OpenTwo = async () => {
  const instances = redisInstances(redisUrl ?? '');
  return [await instances.open(), await instances.open()];
};

describe('in memory', () => contract(openInMemory));
describe.skipIf(redisUrl === undefined)('in Redis', () => contract(openInRedis));

function contract(openTwo: OpenTwo): void {
  const limit = { name: 'validate', points: 40 } as const;

  test('of 200 parallel calls on both instances exactly one adds a key', async () => {
    const stores = await openTwo();
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => stores[index % 2 === 0 ? 0 : 1].addOnce('key', 60)),
    );
    expect(answers.filter(Boolean)).toHaveLength(1);
  });

  test('different keys are each added', async () => {
    const [store] = await openTwo();
    expect(await store.addOnce('a', 60)).toBe(true);
    expect(await store.addOnce('b', 60)).toBe(true);
    expect(await store.addOnce('a', 60)).toBe(false);
  });

  test('a key can be added again once it has expired', async () => {
    const [store] = await openTwo();
    expect(await store.addOnce('key', 1)).toBe(true);
    await vi.waitFor(async () => expect(await store.addOnce('key', 1)).toBe(true), { timeout: 10_000 });
  });

  test('of 100 parallel requests of one client exactly the limit is admitted', async () => {
    const stores = await openTwo();
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, index) => stores[index % 2 === 0 ? 0 : 1].consume(limit, 'client')),
    );
    expect(outcomes.filter((outcome) => outcome.allowed)).toHaveLength(40);
    expect(
      new Set(outcomes.filter((outcome) => outcome.allowed).map(({ remaining }) => remaining)).size,
    ).toBe(40);
  });

  test('a result has the limit, the remaining points and the end of the window', async () => {
    const [store] = await openTwo();
    const small = { name: 'auth', points: 2 } as const;
    const outcomes = [];
    for (let count = 0; count < 3; count += 1) outcomes.push(await store.consume(small, 'client'));
    expect(outcomes).toMatchObject([
      { allowed: true, limit: 2, remaining: 1 },
      { allowed: true, limit: 2, remaining: 0 },
      { allowed: false, limit: 2, remaining: 0 },
    ]);
    for (const { resetSeconds } of outcomes) {
      expect(resetSeconds).toBeGreaterThanOrEqual(1);
      expect(resetSeconds).toBeLessThanOrEqual(60);
    }
  });

  test('each name and each client has its own bucket', async () => {
    const [store] = await openTwo();
    const one = { name: 'auth', points: 1 } as const;
    expect(await store.consume(one, 'a')).toMatchObject({ allowed: true });
    expect(await store.consume(one, 'b')).toMatchObject({ allowed: true });
    expect(await store.consume({ name: 'session', points: 1 }, 'a')).toMatchObject({ allowed: true });
    expect(await store.consume(one, 'a')).toMatchObject({ allowed: false });
  });

  test('several points are taken all or none, and refused ones are not counted', async () => {
    const stores = await openTwo();
    const rows = { name: 'licenseRows', points: 100 } as const;
    expect(await stores[0].consume(rows, 'a', 60)).toMatchObject({ allowed: true, remaining: 40 });
    expect(await stores[1].consume(rows, 'a', 41)).toMatchObject({ allowed: false, remaining: 40 });
    expect(await stores[0].consume(rows, 'a', 40)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await stores[0].consume(rows, 'b', 100)).toMatchObject({ allowed: true, remaining: 0 });
    const parallel = await Promise.all(
      Array.from({ length: 20 }, (_, index) => stores[index % 2 === 0 ? 0 : 1].consume(rows, 'c', 30)),
    );
    expect(parallel.filter(({ allowed }) => allowed)).toHaveLength(3);
  });

  test('the networks around an IPv6 client have four and sixteen times its points', async () => {
    const stores = await openTwo();
    const few = { name: 'auth', points: 5 } as const;
    const ask = (network: string, times: number) =>
      Promise.all(
        Array.from({ length: times }, (_, index) => stores[index % 2 === 0 ? 0 : 1].consume(few, network)),
      );
    const allowedOf = async (asked: ReturnType<typeof ask>) =>
      (await asked).filter(({ allowed }) => allowed).length;
    const client = (network: number, subnet: number) =>
      `2001:db8:7:${((network << 8) | subnet).toString(16)}::/64`;

    // A flood from one /64 is refused by its own bucket, and does not affect its neighbours.
    expect(await allowedOf(ask(client(1, 0), 200))).toBe(5);
    expect(await stores[0].consume(few, client(1, 0))).toMatchObject({ allowed: false, limit: 5 });
    // Ten networks of one /56 share twenty points, and refused requests do not count towards the /48.
    const one = Array.from({ length: 10 }, (_, subnet) => allowedOf(ask(client(2, subnet), 30)));
    expect((await Promise.all(one)).reduce((sum, allowed) => sum + allowed)).toBe(20);
    expect(await stores[1].peek(few, client(2, 99))).toMatchObject({
      allowed: false,
      limit: 20,
      remaining: 0,
    });
    expect(await stores[0].consume(few, client(2, 99))).toMatchObject({
      allowed: false,
      limit: 20,
      remaining: 0,
    });
    // Other networks of the /48: 80 points in total, of which 25 are taken.
    const many = Array.from({ length: 20 }, (_, network) => allowedOf(ask(client(16 + network, 0), 5)));
    expect((await Promise.all(many)).reduce((sum, allowed) => sum + allowed)).toBe(55);
    expect(await stores[1].consume(few, client(200, 1))).toMatchObject({ allowed: false, limit: 80 });
    expect(await stores[1].consume(few, '2001:db8:8:1::/64')).toMatchObject({
      allowed: true,
      limit: 5,
      remaining: 4,
    });
  });

  test('requests do not extend a window', async () => {
    const [store] = await openTwo();
    const first = await store.consume(limit, 'client');
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const second = await store.consume(limit, 'client');
    expect(second.resetSeconds).toBeLessThan(first.resetSeconds);
  });

  test('peek takes no point and predicts the next consume', async () => {
    const [store, other] = await openTwo();
    const failures = { name: 'apiKeyAuth', points: 2 } as const;
    for (let count = 0; count < 5; count += 1) {
      expect(await store.peek(failures, 'client')).toMatchObject({ allowed: true, remaining: 2 });
    }
    await store.consume(failures, 'client');
    expect(await other.peek(failures, 'client')).toMatchObject({ allowed: true, limit: 2, remaining: 1 });
    await store.consume(failures, 'client');
    const exhausted = await other.peek(failures, 'client');
    expect(exhausted).toMatchObject({ allowed: false, limit: 2, remaining: 0 });
    expect(exhausted.resetSeconds).toBeGreaterThanOrEqual(1);
    expect(exhausted.resetSeconds).toBeLessThanOrEqual(60);
  });

  test('a published message reaches the subscribers of its channel on both instances', async () => {
    const [store, other] = await openTwo();
    const heard: string[] = [];
    const subscriptions = [store, other].map((one, index) =>
      one.subscribe('channel', {
        message: (text) => heard.push(`${index}:${text}`),
        interrupted: () => {},
      }),
    );
    store.subscribe('another', { message: () => heard.push('wrong'), interrupted: () => {} });
    await vi.waitFor(() => expect(subscriptions.every(({ live }) => live)).toBe(true), { timeout: 10_000 });
    await store.publish('channel', 'hello');
    await vi.waitFor(() => expect(heard.toSorted()).toEqual(['0:hello', '1:hello']), { timeout: 10_000 });
  });

  test('of 200 parallel uses of a nonce exactly one is the first', async () => {
    const guards = (await openTwo()).map(createReplayGuard);
    const nonce = randomBytes(16);
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => guards[index % 2]?.firstUse('session', nonce)),
    );
    expect(answers.filter((answer) => answer === true)).toHaveLength(1);
  });

  test('a nonce counts only within its session', async () => {
    const guard = createReplayGuard((await openTwo())[0]);
    const nonce = randomBytes(16);
    expect(await guard.firstUse('one', nonce)).toBe(true);
    expect(await guard.firstUse('two', nonce)).toBe(true);
    expect(await guard.firstUse('one', new Uint8Array(nonce))).toBe(false);
  });

  test('instances share the epoch, other installations have another', async () => {
    const [store, other] = await openTwo();
    expect(other.epoch).toBe(store.epoch);
    expect(store.epoch).not.toBe('');
    expect((await openTwo())[0].epoch).not.toBe(store.epoch);
  });

  test('a closed store refuses nonces and publications', async () => {
    const [store] = await openTwo();
    await store.close();
    await expect(store.addOnce(randomUUID(), 60)).rejects.toThrow(
      expect.objectContaining({ name: 'StoreUnavailableError' }),
    );
    await expect(store.publish('channel', 'x')).rejects.toThrow(
      expect.objectContaining({ name: 'StoreUnavailableError' }),
    );
    expect(store.isAvailable()).toBe(false);
  });
}
