import { Writable } from 'node:stream';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { timeOfId } from '../../src/lib/ids.ts';
import { createLogger } from '../../src/lib/log.ts';
import { type DeviceUse, type LastUses, noUses } from '../../src/services/security-log/uses.ts';
import type { Batch } from '../../src/services/security-log/write-batch.ts';
import {
  createSecurityLogWriter,
  type SecurityLogWriterOptions,
} from '../../src/services/security-log/writer.ts';

/** Replaces the database: these tests check the batches, other tests how they are written. */
const { writeBatch } = vi.hoisted(() => ({
  writeBatch: vi.fn<(pool: unknown, batch: Batch) => Promise<LastUses | undefined>>(),
}));
const { findLocked } = vi.hoisted(() => ({
  findLocked: vi.fn<(pool: unknown, ids: Iterable<string | null>) => Promise<ReadonlySet<string>>>(),
}));
vi.mock('../../src/services/security-log/write-batch.ts', () => ({
  writeBatch: async (pool: unknown, batch: Batch) => (await writeBatch(pool, batch)) ?? noUses,
}));
vi.mock('../../src/services/security-log/locked-applications.ts', () => ({ findLocked }));

/** Never connected. */
const pool = new pg.Pool();

beforeEach(() => {
  vi.useFakeTimers();
  writeBatch.mockReset();
  writeBatch.mockResolvedValue(undefined);
  findLocked.mockReset();
  findLocked.mockResolvedValue(new Set());
});
afterEach(() => {
  vi.useRealTimers();
});

const client = { ip: '192.0.2.7', limitKey: '192.0.2.7', country: 'SE' };

function open(options: Partial<SecurityLogWriterOptions> = {}) {
  const logLines: string[] = [];
  const log = createLogger(
    'warn',
    new Writable({
      write(chunk, _encoding, done) {
        logLines.push(String(chunk));
        done();
      },
    }),
  );
  const writer = createSecurityLogWriter({ pool, log, ...options });
  const add = (name: number | string) =>
    writer.add(client, {
      developerId: 'developer',
      applicationId: 'application',
      event: 'license_validated',
      code: String(name),
    });
  return { writer, add, logLines };
}

/** The codes of each requested batch, including failed ones. */
const batches = () => writeBatch.mock.calls.map(([, { entries }]) => entries.map(({ code }) => code));
const addresses = () => writeBatch.mock.calls.map(([, { uses }]) => Object.fromEntries(uses.addresses));
const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => String(from + index));

/** A write that ends when the test ends it. */
function heldWrite() {
  let end = () => {};
  writeBatch.mockImplementationOnce(
    () =>
      new Promise((resolve) => {
        end = () => resolve(undefined);
      }),
  );
  return { end: () => end() };
}

describe('asynchronous writing', () => {
  test('collects entries within the delay into one batch, in order', async () => {
    const { add } = open();
    add('a');
    await vi.advanceTimersByTimeAsync(100);
    add('b');
    add('c');
    expect(batches()).toEqual([]);
    await vi.advanceTimersByTimeAsync(150);
    expect(batches()).toEqual([['a', 'b', 'c']]);
  });

  test('is never more than 250 ms late, however steadily entries come', async () => {
    const { add } = open();
    const added = new Map<string, number>();
    const late: number[] = [];
    writeBatch.mockImplementation(async (_pool, { entries }) => {
      for (const { code } of entries) late.push(Date.now() - (added.get(code ?? '') ?? Number.NaN));
    });
    for (let turn = 0; turn < 300; turn++) {
      added.set(String(turn), Date.now());
      add(turn);
      await vi.advanceTimersByTimeAsync(7);
    }
    await vi.advanceTimersByTimeAsync(250);
    expect(late).toHaveLength(300);
    expect(Math.max(...late)).toBeLessThanOrEqual(250);
    expect(batches().flat()).toEqual(range(0, 300));
    expect(batches().length).toBeLessThan(30);
  });

  test('gives each entry an ordered id, with actor, origin and time', async () => {
    const { writer, add } = open({ clock: { now: () => Date.parse('2026-03-01T12:00:00Z') } });
    for (const name of range(0, 50)) add(name);
    await writer.flush();
    const entries = writeBatch.mock.calls[0]?.[1].entries ?? [];
    expect(entries[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      developerId: 'developer',
      applicationId: 'application',
      event: 'license_validated',
      code: '0',
      ip: '192.0.2.7',
      country: 'SE',
      createdAt: new Date('2026-03-01T12:00:00Z'),
    });
    const ids = entries.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(50);
  });

  test('splits a flood into batches of a thousand, in order', async () => {
    const { writer, add } = open();
    for (let turn = 0; turn < 2_500; turn++) add(turn);
    await writer.flush();
    expect(batches().map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
    expect(batches().flat()).toEqual(range(0, 2_500));
  });

  test('sends no statement without entries', async () => {
    const { writer } = open();
    await vi.advanceTimersByTimeAsync(10_000);
    await writer.flush();
    expect(batches()).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('the last address of a license', () => {
  test('is the latest one, and is written even without an entry', async () => {
    const { writer } = open();
    writer.seen('first', '192.0.2.1');
    writer.seen('second', '192.0.2.2');
    writer.seen('first', '192.0.2.3');
    await vi.advanceTimersByTimeAsync(250);
    expect(addresses()).toEqual([{ first: '192.0.2.3', second: '192.0.2.2' }]);
  });

  test('that could not be written is replaced by a later one', async () => {
    const { writer } = open();
    writeBatch.mockImplementationOnce(async () => {
      writer.seen('first', '192.0.2.9');
      throw new Error('the database is away');
    });
    writer.seen('first', '192.0.2.1');
    writer.seen('second', '192.0.2.2');
    await writer.flush();
    await vi.advanceTimersByTimeAsync(250);
    expect(addresses().at(-1)).toEqual({ first: '192.0.2.9', second: '192.0.2.2' });
  });

  test('takes no more room than the buffer has while writes fail', async () => {
    const { writer } = open({ maxBuffered: 2 });
    let turn = 0;
    writeBatch.mockImplementation(async () => {
      turn += 1;
      for (const name of ['a', 'b', 'c']) writer.seen(`${name} ${turn}`, '192.0.2.1');
      throw new Error('the database is away');
    });
    writer.seen('first', '192.0.2.1');
    for (let round = 0; round < 5; round += 1) await writer.flush();
    expect(addresses().map((written) => Object.keys(written).length)).toEqual([1, 2, 2, 2, 2]);
    writeBatch.mockReset();
    await writer.flush();
  });

  test('stays the latest one when the buffer is full', async () => {
    const { writer } = open({ maxBuffered: 2 });
    writer.seen('first', '192.0.2.1');
    writer.seen('second', '192.0.2.2');
    writer.seen('third', '192.0.2.3');
    writer.seen('first', '192.0.2.4');
    await writer.flush();
    expect(addresses()).toEqual([{ first: '192.0.2.4', second: '192.0.2.2' }]);
  });
});

describe('the last use of a device', () => {
  const use = (ip: string): DeviceUse => ({
    licenseId: 'license',
    at: new Date('2026-03-01T12:00:00.000Z'),
    ip,
    country: 'SE',
  });
  const written = () =>
    writeBatch.mock.calls.map(([, { uses }]) => [...uses.devices].map(([id, { ip }]) => [id, ip]));

  test('is the latest one, and is written even without an entry', async () => {
    const { writer } = open();
    writer.deviceSeen('first', use('192.0.2.1'));
    writer.deviceSeen('second', use('192.0.2.2'));
    writer.deviceSeen('first', use('192.0.2.3'));
    await vi.advanceTimersByTimeAsync(250);
    expect(written()).toEqual([
      [
        ['first', '192.0.2.3'],
        ['second', '192.0.2.2'],
      ],
    ]);
  });

  test('that could not be written is replaced by a later one, and reported if it is lost', async () => {
    const { writer } = open();
    writeBatch.mockImplementationOnce(async () => {
      writer.deviceSeen('first', use('192.0.2.9'));
      throw new Error('the database is away');
    });
    writer.deviceSeen('first', use('192.0.2.1'));
    writer.deviceSeen('second', use('192.0.2.2'));
    await writer.flush();
    await vi.advanceTimersByTimeAsync(250);
    expect(
      new Map(
        written()
          .at(-1)
          ?.map(([id = '', ip]) => [id, ip]),
      ),
    ).toEqual(
      new Map([
        ['first', '192.0.2.9'],
        ['second', '192.0.2.2'],
      ]),
    );
    writeBatch.mockRejectedValue(new Error('the database is away'));
    writer.deviceSeen('first', use('192.0.2.1'));
    await expect(writer.close()).rejects.toThrow('could not be written');
  });

  test('takes no more room than the buffer has', async () => {
    const { writer } = open({ maxBuffered: 2 });
    for (const [id, ip] of [
      ['first', '192.0.2.1'],
      ['second', '192.0.2.2'],
      ['third', '192.0.2.3'],
      ['first', '192.0.2.4'],
    ] as const)
      writer.deviceSeen(id, use(ip));
    await writer.flush();
    expect(written()[0]).toEqual([
      ['first', '192.0.2.4'],
      ['second', '192.0.2.2'],
    ]);
  });
});

test('only the entry that the database refuses is dropped, and it is counted', async () => {
  const { writer, add, logLines } = open();
  writeBatch.mockImplementation(async (_pool, { entries }) => {
    if (entries.some(({ code }) => code === 'bad')) {
      throw Object.assign(new Error('invalid byte sequence'), { code: '22021' });
    }
  });
  for (const name of [1, 2, 'bad', 4, 5]) add(name);
  writer.seen('license', '192.0.2.9');
  await writer.flush();
  const written = batches().filter((codes) => !codes.includes('bad'));
  expect(written.flat().sort()).toEqual(['1', '2', '4', '5']);
  expect(addresses().at(-1)).toEqual({ license: '192.0.2.9' });
  expect(writer.shed).toBe(1);
  expect(logLines.join('')).toContain('dropped a security log entry');
});

test('uses that the database refuses are dropped, and hold up no entry', async () => {
  const { writer, add, logLines } = open();
  writeBatch.mockImplementation(async (_pool, { uses }) => {
    if (uses.addresses.size > 0) throw Object.assign(new Error('invalid byte sequence'), { code: '22021' });
  });
  for (const name of [1, 2, 3]) add(name);
  writer.seen('license', '192.0.2.9');
  await writer.flush();
  expect([writer.written, writer.waiting, writer.shed]).toEqual([3, 0, 0]);
  expect(logLines).toEqual([expect.stringContaining('dropped uses')]);
  writeBatch.mockClear();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(writeBatch).not.toHaveBeenCalled();
});

test('uses of a locked license are tried in one batch of a round, and stay waiting', async () => {
  const { writer, add } = open({ largestBatch: 2 });
  writeBatch.mockImplementation(async (_pool, { uses }) => {
    writer.seen('license', '192.0.2.10');
    return uses;
  });
  for (const name of range(0, 10)) add(name);
  writer.seen('license', '192.0.2.9');
  await writer.flush();
  expect([writer.written, writer.waiting]).toEqual([10, 0]);
  expect(writeBatch.mock.calls.filter(([, { uses }]) => uses.addresses.size > 0)).toHaveLength(1);
  writeBatch.mockReset();
  await vi.advanceTimersByTimeAsync(250);
  expect(addresses()).toEqual([{ license: '192.0.2.10' }]);
});

describe('while an application is locked', () => {
  const lockTimeout = () => Object.assign(new Error('lock timeout'), { code: '55P03' });
  const addOf = ({ add }: Pick<ReturnType<typeof open>['writer'], 'add'>, applicationId: string) =>
    add(client, { developerId: 'developer', applicationId, event: 'license_validated', code: 'OK' });
  /** Which applications each batch has entries and counts of. */
  const concerned = () =>
    writeBatch.mock.calls.map(([, { entries, uses }]) => [
      entries.map(({ applicationId }) => applicationId),
      uses.counts.flatMap(({ counts }) => counts.map(({ applicationId, count }) => [applicationId, count])),
    ]);
  /** As PostgreSQL: a batch with something of a locked application waits for it, and is rolled back. */
  function lock(...applicationIds: string[]) {
    const locked = new Set(applicationIds);
    findLocked.mockImplementation(
      async (_pool, ids) => new Set([...ids].flatMap((id) => (id !== null && locked.has(id) ? [id] : []))),
    );
    writeBatch.mockImplementation(async (_pool, { entries, uses }) => {
      const all = [...entries, ...uses.counts.flatMap(({ counts }) => counts)];
      if (all.some(({ applicationId }) => locked.has(applicationId ?? ''))) throw lockTimeout();
    });
    return { unlock: () => locked.clear() };
  }

  test('others wait for its lock once, and then for nothing', async () => {
    const { writer, logLines } = open();
    const { unlock } = lock('locked');
    for (const applicationId of ['locked', 'free', 'locked']) addOf(writer, applicationId);
    await writer.flush();
    expect(concerned()).toEqual([
      [
        ['locked', 'free', 'locked'],
        [
          ['locked', 2],
          ['free', 1],
        ],
      ],
      [['free'], [['free', 1]]],
    ]);
    expect([writer.written, writer.waiting]).toEqual([1, 2]);
    // The streams of other applications go on.
    expect(writer.oldestWaiting).toEqual([
      { applicationId: 'locked', id: writeBatch.mock.calls[0]?.[1].entries[0]?.id },
    ]);
    for (const applicationId of ['free', 'locked']) addOf(writer, applicationId);
    writeBatch.mockClear();
    await writer.flush();
    expect(concerned()).toEqual([[['free'], [['free', 1]]]]);
    unlock();
    writeBatch.mockClear();
    await writer.flush();
    expect(concerned()).toEqual([[['locked', 'locked', 'locked'], [['locked', 3]]]]);
    expect([writer.written, writer.waiting]).toEqual([5, 0]);
    expect(logLines).toEqual([]);
  });

  test('counts that may be stored already are not divided: they wait for it, and new ones do not', async () => {
    const { writer } = open();
    writeBatch.mockRejectedValueOnce(new Error('the connection was lost'));
    for (const applicationId of ['locked', 'free']) addOf(writer, applicationId);
    await writer.flush();
    const { unlock } = lock('locked');
    await writer.flush();
    addOf(writer, 'free');
    writeBatch.mockClear();
    await writer.flush();
    expect(concerned()).toEqual([[['free'], [['free', 1]]]]);
    unlock();
    await writer.flush();
    expect(concerned().at(-1)).toEqual([
      ['locked'],
      [
        ['locked', 1],
        ['free', 1],
      ],
    ]);
  });

  test('a second lock in a round leaves the counts of others free', async () => {
    const { writer } = open();
    lock('locked');
    findLocked.mockResolvedValueOnce(new Set()).mockResolvedValueOnce(new Set());
    for (const applicationId of ['locked', 'free']) addOf(writer, applicationId);
    await writer.flush();
    expect(writer.written).toBe(0);
    await writer.flush();
    expect(concerned().at(-1)).toEqual([['free'], [['free', 1]]]);
  });

  test('the close also waits for a lock of something else', async () => {
    const { writer, add } = open();
    for (let turn = 0; turn < 4; turn += 1) writeBatch.mockRejectedValueOnce(lockTimeout());
    add('a');
    await writer.close();
    expect([writer.written, writer.waiting]).toEqual([1, 0]);
  });

  test('its entries are dropped as those of others if they wait for too long', async () => {
    const { writer } = open({ maxBuffered: 4 });
    lock('locked');
    for (const applicationId of ['locked', 'free', 'locked', 'locked']) addOf(writer, applicationId);
    await writer.flush();
    for (let count = 0; count < 4; count += 1) addOf(writer, 'locked');
    await writer.flush();
    expect([writer.written, writer.waiting, writer.shed]).toEqual([1, 4, 3]);
  });

  test('the close waits for it, but not for long, and reports what is lost', async () => {
    const { writer } = open();
    lock('locked');
    for (const applicationId of ['locked', 'free']) addOf(writer, applicationId);
    const closed = expect(writer.close()).rejects.toThrow('could not be written');
    await vi.advanceTimersByTimeAsync(11_000);
    await closed;
    expect(writer.written).toBe(1);
    expect(writeBatch.mock.calls.length).toBeLessThan(5);
  });
});

describe('a failed write', () => {
  test('keeps its entries before later ones, and is retried', async () => {
    const { add, writer, logLines } = open();
    writeBatch.mockRejectedValueOnce(new Error('the database is away'));
    writeBatch.mockRejectedValueOnce(new Error('the database is away'));
    add('a');
    add('b');
    await vi.advanceTimersByTimeAsync(250);
    add('c');
    await vi.advanceTimersByTimeAsync(250);
    add('d');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(batches()).toEqual([
      ['a', 'b'],
      ['a', 'b', 'c'],
      ['a', 'b', 'c', 'd'],
    ]);
    expect(writer.shed).toBe(0);
    expect(logLines).toEqual([expect.stringContaining('will try again')]);
  });

  test('is retried once a second while it fails, and logged once a minute', async () => {
    const { add, logLines } = open();
    writeBatch.mockRejectedValue(new Error('the database is away'));
    add('a');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(batches().length).toBeGreaterThanOrEqual(10);
    expect(batches().length).toBeLessThanOrEqual(12);
    expect(logLines).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(logLines).toHaveLength(2);
    writeBatch.mockResolvedValue(undefined);
    await vi.advanceTimersByTimeAsync(1_000);
  });

  test('writes the same ids again', async () => {
    const { add, writer } = open();
    writeBatch.mockRejectedValueOnce(new Error('the database is away'));
    add('a');
    await writer.flush();
    await vi.advanceTimersByTimeAsync(250);
    const [first, second] = writeBatch.mock.calls.map(([, { entries }]) => entries[0]);
    expect(first).toBeDefined();
    expect(second).toEqual(first);
    expect(writeBatch.mock.calls.map(([, { mayBeStored }]) => mayBeStored)).toEqual([false, true]);
  });

  test('leaves later batches for the next turn', async () => {
    const { add, writer } = open();
    for (let turn = 0; turn < 1_500; turn++) add(turn);
    writeBatch.mockRejectedValueOnce(new Error('the database is away'));
    await writer.flush();
    expect(batches().map(({ length }) => length)).toEqual([1_000]);
    await vi.advanceTimersByTimeAsync(250);
    expect(batches().slice(1).flat()).toEqual(range(0, 1_500));
  });
});

describe('a full buffer', () => {
  test('drops the oldest entries, counts them and logs that', async () => {
    const { add, writer, logLines } = open({ maxBuffered: 100 });
    writeBatch.mockRejectedValueOnce(new Error('the database is away'));
    for (let turn = 0; turn < 50; turn++) add(turn);
    await writer.flush();
    for (let turn = 50; turn < 1_000; turn++) add(turn);
    await vi.advanceTimersByTimeAsync(250);
    const written = batches().at(-1) ?? [];
    // Up to a tenth above the limit before the oldest are dropped.
    expect(written.length).toBeGreaterThanOrEqual(100);
    expect(written.length).toBeLessThanOrEqual(110);
    expect(written).toEqual(range(1_000 - written.length, 1_000));
    expect(writer.shed).toBe(1_000 - written.length);
    expect(logLines.some((line) => line.includes('dropped the oldest'))).toBe(true);
  });

  test('is logged once a minute, and at the end of the outage', async () => {
    const { add, writer, logLines } = open({ maxBuffered: 100 });
    const dropped = () =>
      logLines.filter((line) => line.includes('dropped the oldest')).map((line) => JSON.parse(line).excess);
    writeBatch.mockRejectedValue(new Error('the database is away'));
    for (let second = 0; second < 30; second += 1) {
      for (let turn = 0; turn < 100; turn += 1) add(turn);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(dropped()).toHaveLength(1);
    writeBatch.mockResolvedValue(undefined);
    findLocked.mockReset();
    findLocked.mockResolvedValue(new Set());
    await writer.flush();
    const [first, rest] = dropped();
    expect(dropped()).toHaveLength(2);
    expect(first + rest).toBe(writer.shed);
  });

  test('holds thirty seconds of five thousand entries each, and drops none of them', async () => {
    const { add, writer } = open();
    writeBatch.mockRejectedValue(new Error('the database is away'));
    for (let second = 0; second < 30; second += 1) {
      for (let turn = 0; turn < 5_000; turn += 1) add(turn);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect([writer.waiting, writer.shed]).toEqual([150_000, 0]);
    writeBatch.mockResolvedValue(undefined);
    findLocked.mockReset();
    findLocked.mockResolvedValue(new Set());
    await writer.flush();
    expect([writer.written, writer.waiting, writer.shed]).toEqual([150_000, 0, 0]);
  });

  test('drops entries that have waited for longer than bufferSeconds, but always holds 50,000', async () => {
    const { add, writer } = open({ bufferSeconds: 10 });
    writeBatch.mockRejectedValue(new Error('the database is away'));
    for (let turn = 0; turn < 50_000; turn += 1) add('early');
    await vi.advanceTimersByTimeAsync(11_000);
    expect([writer.waiting, writer.shed]).toEqual([50_000, 0]);
    for (let turn = 0; turn < 20_000; turn += 1) add('late');
    await vi.advanceTimersByTimeAsync(1_000);
    expect([writer.waiting, writer.shed]).toEqual([50_000, 20_000]);
    writeBatch.mockResolvedValue(undefined);
    findLocked.mockReset();
    findLocked.mockResolvedValue(new Set());
    await writer.flush();
    const late = batches()
      .slice(-50)
      .flat()
      .filter((code) => code === 'late');
    expect(late).toHaveLength(20_000);
  });

  test('drops returned entries of a failed write beyond the limit', async () => {
    const { add, writer } = open({ maxBuffered: 10 });
    writeBatch.mockImplementationOnce(async () => {
      for (let turn = 10; turn < 18; turn++) add(turn);
      throw new Error('the database is away');
    });
    for (let turn = 0; turn < 10; turn++) add(turn);
    await writer.flush();
    await vi.advanceTimersByTimeAsync(250);
    expect(batches().at(-1)).toEqual(range(8, 18));
    expect(writer.shed).toBe(8);
  });
});

describe('flush', () => {
  test('waits for the running write and for all entries added before the call', async () => {
    const { add, writer } = open();
    const held = heldWrite();
    add('a');
    await vi.advanceTimersByTimeAsync(200);
    add('b');
    let done = false;
    const flushed = writer.flush().then(() => {
      done = true;
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(done).toBe(false);
    expect(batches()).toEqual([['a']]);
    held.end();
    await flushed;
    expect(batches()).toEqual([['a'], ['b']]);
  });

  test('ends while entries keep coming, and leaves those for the next turn', async () => {
    const { writer, add } = open({ delayMilliseconds: 200 });
    let coming = 50;
    writeBatch.mockImplementation(async () => {
      if (coming === 0) return;
      coming -= 1;
      add(`later ${coming}`);
      writer.seen(`license ${coming}`, '192.0.2.7');
    });
    add('first');
    await writer.flush();
    expect(batches()).toEqual([['first']]);
    await vi.advanceTimersByTimeAsync(200);
    expect(batches()).toEqual([['first'], ['later 49']]);
    expect(addresses()[1]).toEqual({ 'license 49': '192.0.2.7' });
  });

  test('called concurrently writes every entry once', async () => {
    const { add, writer } = open();
    for (let turn = 0; turn < 20; turn++) {
      add(turn);
      void writer.flush();
    }
    await writer.flush();
    expect(batches().flat()).toEqual(range(0, 20));
  });
});

describe('close', () => {
  test('writes all waiting entries, and stops', async () => {
    const { add, writer } = open();
    for (let turn = 0; turn < 1_200; turn++) add(turn);
    await writer.close();
    expect(batches().flat()).toEqual(range(0, 1_200));
    expect(vi.getTimerCount()).toBe(0);
  });

  test('waits for the running write', async () => {
    const { add, writer } = open();
    const held = heldWrite();
    add('a');
    await vi.advanceTimersByTimeAsync(200);
    add('b');
    const closed = writer.close();
    held.end();
    await closed;
    expect(batches()).toEqual([['a'], ['b']]);
  });

  test('gives up on an unavailable database, and reports the number of lost entries', async () => {
    const { add, writer, logLines } = open();
    writeBatch.mockRejectedValue(new Error('the database is away'));
    add('a');
    add('b');
    await expect(writer.close()).rejects.toThrow('could not be written');
    expect(logLines.some((line) => line.includes('"lost":2'))).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('reports lost addresses even without entries', async () => {
    const { writer } = open();
    writeBatch.mockRejectedValue(new Error('the database is away'));
    writer.seen('license', '192.0.2.1');
    await expect(writer.close()).rejects.toThrow('could not be written');
  });

  test('is final: later entries are not retried forever on a closed pool', async () => {
    const { add, writer } = open();
    await writer.close();
    writeBatch.mockRejectedValue(new Error('the pool has ended'));
    add('late');
    writer.seen('license', '192.0.2.1');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(batches().length).toBeLessThanOrEqual(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test('the oldest waiting entry is the lowest, even if ids restarted because the clock was set back', async () => {
  const { writer, add } = open();
  const start = Date.now();
  vi.setSystemTime(start + 3_600_000);
  add('from the future');
  const oldest = () => writer.oldestWaiting[0]?.id ?? '';
  const future = oldest();
  vi.setSystemTime(start);
  add('now');
  add('later');
  const lowest = oldest();
  expect(timeOfId(future) - timeOfId(lowest)).toBe(3_600_000);
  await writer.flush();
  expect(writer.oldestWaiting).toEqual([]);
  add('in order again');
  expect(timeOfId(oldest())).toBe(start);
});

describe('repeated validations', () => {
  const use = (hwid: string, code = 'OK') =>
    ({
      developerId: 'developer',
      applicationId: 'application',
      event: 'license_validated',
      code,
      licenseId: 'license',
      hwid,
    }) as const;
  const stored = () =>
    writeBatch.mock.calls.flatMap(([, { entries }]) => entries.map(({ hwid, code }) => `${hwid} ${code}`));
  const counted = () =>
    writeBatch.mock.calls.flatMap(([, { uses }]) =>
      uses.counts.flatMap(({ counts }) => counts.map(({ code, count }) => [code, count])),
    );

  test('are all stored and counted by default', async () => {
    const { writer } = open();
    for (let turn = 0; turn < 3; turn += 1) writer.add(client, use('laptop'));
    await writer.flush();
    expect(stored()).toHaveLength(3);
    expect(counted()).toEqual([['OK', 3]]);
  });

  test('are stored once an hour of each device if the log is thinned, and all counted', async () => {
    vi.setSystemTime(new Date('2026-03-01T12:10:00.000Z'));
    const { writer } = open({ thinned: true });
    for (let turn = 0; turn < 3; turn += 1) {
      for (const hwid of ['laptop', 'desktop']) writer.add(client, use(hwid));
      writer.add(client, use('laptop', 'EXPIRED'));
    }
    await writer.flush();
    expect(stored().toSorted()).toEqual([
      'desktop OK',
      'laptop EXPIRED',
      'laptop EXPIRED',
      'laptop EXPIRED',
      'laptop OK',
    ]);
    expect(counted()).toEqual([
      ['OK', 6],
      ['EXPIRED', 3],
    ]);
    vi.setSystemTime(new Date('2026-03-01T13:00:00.000Z'));
    writer.add(client, use('laptop'));
    await writer.flush();
    expect(stored()).toHaveLength(6);
  });

  test('are all counted at the close, those too that came after a failed write', async () => {
    const { writer } = open();
    writeBatch.mockRejectedValueOnce(new Error('the database is away'));
    writer.add(client, use('laptop'));
    await writer.flush();
    writer.add(client, use('laptop'));
    await writer.close();
    expect(counted()).toEqual([
      ['OK', 1],
      ['OK', 1],
      ['OK', 1],
    ]);
  });

  test('that could not be written are counted once, under the id of the first attempt', async () => {
    const { writer } = open({ thinned: true });
    writeBatch.mockRejectedValueOnce(new Error('the database is away'));
    writer.add(client, use('laptop'));
    await writer.flush();
    writer.add(client, use('laptop'));
    await writer.flush();
    await writer.flush();
    const ids = writeBatch.mock.calls.map(([, { uses }]) => uses.counts.map(({ id }) => id));
    expect(ids[1]).toEqual(ids[0]);
    expect(new Set(ids.flat()).size).toBe(2);
    expect(counted()).toEqual([
      ['OK', 1],
      ['OK', 1],
      ['OK', 1],
    ]);
  });
});
