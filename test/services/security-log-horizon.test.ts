import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createMemoryStore } from '../../src/ephemeral/memory.ts';
import type { EphemeralStore } from '../../src/ephemeral/store.ts';
import { idsBeginning, newId, newIds, timeOfId } from '../../src/lib/ids.ts';
import { createFollowers } from '../../src/services/security-log/followers.ts';
import { createSecurityLogNews } from '../../src/services/security-log/news.ts';
import { createWatermark, type Hold, settleMilliseconds } from '../../src/services/security-log/watermark.ts';
import { silent } from '../setup/database.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';

const [application, other] = ['application', 'another application'];

/** A watermark over what a test says is waiting. */
function open(options: { shared?: boolean; waiting?: () => string | null; held?: () => Hold[] } = {}) {
  const { shared = false, waiting = () => null, held = () => [] } = options;
  return createWatermark({ shared, oldestWaiting: waiting, heldElsewhere: held });
}

describe('ids', () => {
  test('increase strictly, even if the wall clock steps back by less than a minute', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const made: string[] = [];
    for (const step of [0, 0, 5, -59_000, 0, 1, -1]) {
      vi.setSystemTime(Date.now() + step);
      for (let count = 0; count < 2_000; count++) made.push(newId());
    }
    expect(made).toEqual([...new Set(made)].sort());
  });

  test('restart from a wall clock that was set back by more, but never within a batch', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const start = Date.now();
    newId();
    const before = idsBeginning();
    vi.setSystemTime(start + 3_600_000);
    newId();
    expect(idsBeginning()).toBe(before);
    vi.setSystemTime(start + 1_000);
    expect(timeOfId(newId())).toBe(start + 1_000);
    expect(idsBeginning()).toEqual({ at: start + 1_000 });
    let calls = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => start + 5_000 - (calls++ < 50 ? 0 : 120_000));
    onTestFinished(() => void vi.restoreAllMocks());
    const ids = newIds(100);
    expect(ids).toEqual([...new Set(ids)].toSorted());
    expect(calls, 'they were made anew').toBeGreaterThanOrEqual(200);
  });

  test('tell when they were made', () => {
    const [before, id, after] = [Date.now(), newId(), Date.now()];
    expect(timeOfId(id)).toBeGreaterThanOrEqual(before);
    expect(timeOfId(id)).toBeLessThanOrEqual(after);
  });
});

describe('the watermark', () => {
  test('is above all that was made, and below all that is made later', () => {
    const watermark = open();
    const before = newId();
    const found = watermark.of(application);
    expect(found > before).toBe(true);
    expect(newId() > found).toBe(true);
  });

  test('is the oldest entry that waits to be written, for every application', () => {
    const waiting = newId();
    newId();
    const watermark = open({ waiting: () => waiting });
    expect([watermark.of(application), watermark.of(other)]).toEqual([waiting, waiting]);
  });

  test('is the oldest entry of the open transactions of the application, until they have ended', () => {
    const watermark = open();
    const [first, second, third] = [newId(), newId(), newId()];
    const [early, late] = [watermark.open(), watermark.open()];
    late.note(application, second);
    early.note(application, first);
    early.note(application, third);
    expect(watermark.of(application)).toBe(first);
    expect(watermark.of(other) > third).toBe(true);
    expect(early.settle()).toEqual(new Set([application]));
    expect(watermark.of(application)).toBe(second);
    late.settle();
    expect(watermark.of(application) > third).toBe(true);
  });

  test('is the lowest noted id if ids restarted within a transaction', () => {
    const watermark = open();
    const transaction = watermark.open();
    const [low, high] = [newId(), newId()];
    transaction.note(application, high);
    transaction.note(application, low);
    expect(watermark.of(application)).toBe(low);
  });

  test('leaves other instances their second, and waits for what they announce', () => {
    const waited = timeOfId(open({ shared: true }).of(application));
    expect(waited).toBeLessThanOrEqual(Date.now() - settleMilliseconds);
    const held = `00000000-0000-7000-8000-000000000000`;
    const watermark = open({ shared: true, held: () => [{ applicationId: application, id: held }] });
    expect(watermark.of(application)).toBe(held);
    expect(watermark.of(other)).not.toBe(held);
  });
});

describe('a transaction that failed', () => {
  async function world(): Promise<{
    server: TestServer;
    change: () => Promise<number>;
    applicationId: string;
  }> {
    const server = await startTestServer();
    onTestFinished(() => server.close());
    const { client, createApplication } = await createWorld(server);
    const { id } = await createApplication();
    const change = async () =>
      (await client.patch(`/api/v1/apps/${id}/settings`, { hwidLockEnabled: true })).status;
    return { server, change, applicationId: id };
  }

  test('before its commit holds nobody back', async () => {
    const { server, change, applicationId } = await world();
    const { database, securityLogFeed } = server.deps.services;
    const original = database.prisma.$transaction;
    const refusing = { create: () => Promise.reject(new Error('the entry cannot be stored')) };
    vi.spyOn(database.prisma, '$transaction').mockImplementationOnce((...args: unknown[]) => {
      const [work, ...rest] = args as [(transaction: object) => Promise<unknown>];
      const failing = (transaction: object) =>
        work(
          new Proxy(transaction, {
            get: (target, name) => (name === 'securityLogEntry' ? refusing : Reflect.get(target, name)),
          }),
        );
      return Reflect.apply(original, database.prisma, [failing, ...rest]);
    });
    expect(await change()).toBe(500);
    const later = newId();
    expect(securityLogFeed.watermark.of(applicationId) > later).toBe(true);
  });

  test('in its commit holds its entry back until it cannot take effect any more', async () => {
    const { server, change, applicationId } = await world();
    const { database, securityLogFeed } = server.deps.services;
    const original = database.prisma.$transaction;
    vi.spyOn(database.prisma, '$transaction').mockImplementationOnce(async (...args: unknown[]) => {
      await Reflect.apply(original, database.prisma, args);
      throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
    });
    expect(await change()).toBe(503);
    const doubtful = newId();
    expect(securityLogFeed.watermark.of(applicationId) < doubtful).toBe(true);
    await vi.waitFor(() => expect(securityLogFeed.watermark.of(applicationId) > doubtful).toBe(true), 10_000);
  }, 40_000);
});

/** A store that instances share, in this process. */
function sharedStore(): EphemeralStore {
  return { ...createMemoryStore(), shared: true };
}

describe('what instances tell each other', () => {
  function join(store: EphemeralStore, holds: () => Hold[] = () => []) {
    const heard: (ReadonlySet<string> | 'all')[] = [];
    const doubted: ReadonlySet<string>[] = [];
    const news = createSecurityLogNews({
      store,
      log: silent,
      listener: { applications: (ids) => heard.push(ids), developers: (ids) => doubted.push(ids) },
      holds,
    });
    onTestFinished(() => news.close());
    return {
      news,
      heard: () => new Set(heard.flatMap((ids) => (ids === 'all' ? ['all'] : [...ids]))),
      doubted,
    };
  }

  test('is whose log has news, here as there, and whose credentials may have ended', async () => {
    const store = sharedStore();
    const [here, there] = [join(store), join(store)];
    here.news.tell(['a', 'b']);
    here.news.tell(['b']);
    here.news.doubt('developer');
    await vi.waitFor(() => expect(there.heard()).toEqual(new Set(['a', 'b'])));
    expect(here.heard()).toEqual(new Set(['a', 'b']));
    for (const { doubted } of [here, there])
      expect(new Set(doubted.flatMap((ids) => [...ids]))).toEqual(new Set(['developer']));
  });

  test('is no long list: "all" instead', async () => {
    const store = sharedStore();
    const published = vi.spyOn(store, 'publish');
    const [here, there] = [join(store), join(store)];
    here.news.tell(Array.from({ length: 5_000 }, (_, index) => `application ${index}`));
    await vi.waitFor(() => expect(there.heard()).toEqual(new Set(['all'])));
    for (const [, text] of published.mock.calls) expect(text.length).toBeLessThan(50_000);
  });

  test('is what takes one of them long, until it is there; and never what takes too long', async () => {
    const store = sharedStore();
    let held: Hold[] = [{ applicationId: null, id: newId() }];
    join(store, () => held);
    const there = join(store);
    expect([...there.news.heldElsewhere()]).toEqual([]);
    await vi.waitFor(() => expect([...there.news.heldElsewhere()]).toEqual(held), 5_000);
    held = [];
    await vi.waitFor(() => expect([...there.news.heldElsewhere()]).toEqual([]), 5_000);
    expect(there.heard()).toEqual(new Set(['all']));
    held = [{ applicationId: null, id: '00000000-0000-7000-8000-000000000000' }];
    await sleep(600);
    expect([...there.news.heldElsewhere()]).toEqual([]);
  });

  test('that cannot be read has everybody look', async () => {
    const store = sharedStore();
    const { heard } = join(store);
    await store.publish('security-log', 'of another version');
    expect(heard()).toEqual(new Set(['all']));
  });

  test('reaches those here though it reaches nobody else', async () => {
    const store = sharedStore();
    vi.spyOn(store, 'publish').mockRejectedValue(new Error('Redis is away'));
    const here = join(store);
    here.news.tell(['a']);
    await vi.waitFor(() => expect(here.heard()).toEqual(new Set(['a'])));
    here.news.tell(['b']);
    await vi.waitFor(() => expect(here.heard()).toEqual(new Set(['a', 'b'])));
  });

  test('does not wait here for those elsewhere, who are told the rest together', async () => {
    const store = sharedStore();
    const redis = new EventEmitter();
    const publish = vi
      .spyOn(store, 'publish')
      .mockImplementationOnce(async () => void (await once(redis, 'answer')));
    const [here, there] = [join(store), join(store)];
    for (const name of ['a', 'b', 'c']) {
      here.news.tell([name]);
      await vi.waitFor(() => expect(here.heard()).toContain(name));
    }
    here.news.doubt('developer');
    await vi.waitFor(() => expect(here.doubted).toContainEqual(new Set(['developer'])));
    expect(publish).toHaveBeenCalledTimes(1);
    redis.emit('answer');
    await vi.waitFor(() => expect(there.heard()).toEqual(new Set(['b', 'c'])));
    expect(publish).toHaveBeenCalledTimes(2);
  });
});

describe('one instance has room for so many streams', () => {
  const tooMany = expect.objectContaining({ code: 'TOO_MANY_SUBSCRIPTIONS' });
  const opener = (limits: { perDeveloper: number; perProcess: number }) => {
    const followers = createFollowers(limits);
    const open = (developer: string, network = '192.0.2.0/24') =>
      followers.open(
        application,
        { type: 'developer', via: 'apiKey', developerId: developer as never, apiKeyId: 'key' },
        network,
      );
    return { followers, open };
  };

  test('and a developer for fewer', () => {
    const { followers, open } = opener({ perDeveloper: 2, perProcess: 30 });
    const first = open('ada');
    open('ada');
    expect(() => open('ada')).toThrow(tooMany);
    first.end();
    open('ada');
    expect(followers.size).toBe(2);
  });

  test('which 25 accounts with 20 each leave to others, until all have equally many', () => {
    const { followers, open } = opener({ perDeveloper: 20, perProcess: 500 });
    const hoarded = Array.from({ length: 25 }, (_, account) =>
      Array.from({ length: 20 }, () => open(`hoarder ${account}`, '2001:db8:1::/48')),
    ).flat();
    const mine = Array.from({ length: 19 }, () => open('ada'));
    expect(followers.size).toBe(500);
    const ended = hoarded.filter(({ ending }) => ending !== undefined);
    expect(ended).toHaveLength(19);
    for (const { ending } of ended) expect(ending?.error).toEqual(tooMany);
    // Those who were ended come back, and end nobody who has no more than they.
    for (let account = 0; account < 25; account += 1)
      expect(() => open(`hoarder ${account}`, '2001:db8:1::/48')).toThrow(tooMany);
    expect(() => open('ada')).toThrow(tooMany);
    expect(mine.every(({ ending }) => ending === undefined)).toBe(true);
  });

  test('which an account of each client of one network leaves to another network', () => {
    const { followers, open } = opener({ perDeveloper: 2, perProcess: 10 });
    const [first, ...others] = Array.from({ length: 10 }, (_, account) =>
      open(`hoarder ${account}`, '2001:db8:1::/48'),
    );
    const mine = open('ada');
    expect(others.at(-1)?.ending?.error).toEqual(tooMany);
    expect(first?.ending).toBeUndefined();
    expect(() => open('hoarder 9', '2001:db8:1::/48')).toThrow(tooMany);
    expect(() => open('ada')).toThrow(tooMany);
    expect(mine.ending).toBeUndefined();
    expect(followers.size).toBe(10);
  });
});
