import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { idsBeginning, newId, newIds, timeOfId } from '../../src/lib/ids.ts';
import type { PendingEntry } from '../../src/services/changes/carry.ts';
import { createFollowers } from '../../src/services/security-log/followers.ts';
import { createLateEntries } from '../../src/services/security-log/late-entries.ts';
import { createWatermark, settleMilliseconds } from '../../src/services/security-log/watermark.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';

const [application, other] = ['application', 'another application'];

/** A watermark over what a test says is waiting. */
function open(
  options: { shared?: boolean; waiting?: () => string | null; held?: () => PendingEntry[] } = {},
) {
  const { shared = false, waiting = () => null, held = () => [] } = options;
  const oldestWaiting = () => {
    const id = waiting();
    return id === null ? [] : [{ applicationId: null, id }];
  };
  return createWatermark({ shared, oldestWaiting, pendingElsewhere: held });
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
    expect(early.topics).toEqual([application]);
    early.settle();
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
    const refuse = (sql: readonly string[]) =>
      sql.join('').includes('INSERT INTO security_log')
        ? Promise.reject(new Error('the entry cannot be stored'))
        : expect.fail('another statement came first');
    vi.spyOn(database.prisma, '$transaction').mockImplementationOnce((...args: unknown[]) => {
      const [work, ...rest] = args as [(transaction: object) => Promise<unknown>];
      const failing = (transaction: object) =>
        work(
          new Proxy(transaction, {
            get: (target, name) => (name === '$executeRaw' ? refuse : Reflect.get(target, name)),
          }),
        );
      return Reflect.apply(original, database.prisma, [failing, ...rest]);
    });
    expect(await change()).toBe(500);
    const later = newId();
    expect(securityLogFeed.watermark.of(applicationId) > later).toBe(true);
  });

  test('in its commit holds its entry back until it cannot take effect any more', {
    tags: 'slow',
    timeout: 40_000,
  }, async () => {
    const { server, change, applicationId } = await world();
    const { database, securityLogFeed } = server.deps.services;
    const original = database.prisma.$transaction;
    vi.spyOn(database.prisma, '$transaction').mockImplementationOnce(async (...args: unknown[]) => {
      await Reflect.apply(original, database.prisma, args);
      throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
    });
    expect(await change()).toBe(503);
    const ambiguous = newId();
    expect(securityLogFeed.watermark.of(applicationId) < ambiguous).toBe(true);
    await vi.waitFor(
      () => expect(securityLogFeed.watermark.of(applicationId) > ambiguous).toBe(true),
      10_000,
    );
  });
});

describe('what instances tell each other of late entries', () => {
  /** Instances that hear each other's announcements, in this process. */
  function channel() {
    const listeners: [
      instance: string,
      listener: (instance: string, entries: readonly PendingEntry[]) => void,
    ][] = [];
    return (instance: string, pending: () => readonly PendingEntry[] = () => []) => {
      let released = 0;
      const lateEntries = createLateEntries({
        changes: {
          lateEntries: {
            announce: (announced) => {
              for (const [other, listen] of listeners) if (other !== instance) listen(instance, announced);
            },
            listen: (listener) => void listeners.push([instance, listener]),
          },
        },
        pending,
        onReleased: () => {
          released += 1;
        },
      });
      onTestFinished(() => lateEntries.close());
      return { held: () => [...lateEntries.pendingElsewhere()], released: () => released };
    };
  }

  test('is what takes one of them long, until it is there; and never what takes too long', async () => {
    const join = channel();
    let held: readonly PendingEntry[] = [{ applicationId: null, id: newId() }];
    join('here', () => held);
    const there = join('there');
    expect(there.held()).toEqual([]);
    await vi.waitFor(() => expect(there.held()).toEqual(held), 5_000);
    expect(there.released()).toBe(0);
    held = [];
    await vi.waitFor(() => expect(there.held()).toEqual([]), 5_000);
    expect(there.released()).toBe(1);
    held = [{ applicationId: null, id: '00000000-0000-7000-8000-000000000000' }];
    await sleep(600);
    expect(there.held()).toEqual([]);
  });

  test('is no long list: the oldest one for every application instead', async () => {
    const join = channel();
    const ids = Array.from({ length: 600 }, () => newId());
    join('here', () => ids.map((id) => ({ applicationId: id, id })));
    const there = join('there');
    await vi.waitFor(() => expect(there.held()).toEqual([{ applicationId: null, id: ids[0] }]), 5_000);
  });
});

describe('one instance has room for so many streams', () => {
  const tooMany = expect.objectContaining({ code: 'TOO_MANY_SUBSCRIPTIONS' });
  const opener = (limits: { perDeveloper: number; perProcess: number }) => {
    const followers = createFollowers(limits);
    const open = (developer: string, network = '192.0.2.0/24') =>
      followers.open(
        application,
        {
          type: 'developer',
          via: 'apiKey',
          developerId: developer as never,
          apiKeyId: 'key',
          name: 'key',
          keyHash: new Uint8Array(32),
          scopes: ['*'],
          applicationId: null,
          allowedCidrs: [],
        },
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
