import { afterEach, expect, test, vi } from 'vitest';
import { createExpiringSet } from '../../src/ephemeral/expiring-set.ts';
import { createMemoryStore } from '../../src/ephemeral/memory.ts';
import { createReplayGuard } from '../../src/ephemeral/replay-guard.ts';
import { StoreUnavailableError } from '../../src/ephemeral/store.ts';

afterEach(() => {
  vi.useRealTimers();
});

function steppedClock(start = 1_700_000_000_000) {
  let now = start;
  return {
    now: () => now,
    step(milliseconds: number) {
      now += milliseconds;
    },
  };
}

test('a key exists until exactly its expiry', async () => {
  const clock = steppedClock();
  const store = createMemoryStore({ clock });
  expect(await store.addOnce('key', 60)).toBe(true);
  clock.step(59_999);
  expect(await store.addOnce('key', 60)).toBe(false);
  clock.step(1);
  expect(await store.addOnce('key', 60)).toBe(true);
  clock.step(59_999);
  expect(await store.addOnce('key', 60)).toBe(false);
});

test('a nonce first used as early as its timestamp allows is refused for as long as the timestamp is accepted', async () => {
  const timestamp = 1_700_000_000;
  const clock = steppedClock((timestamp - 60) * 1000);
  const accepted = () => Math.abs(Math.floor(clock.now() / 1000) - timestamp) <= 60;
  const guard = createReplayGuard(createMemoryStore({ clock }));
  const nonce = new Uint8Array(16);
  expect(await guard.firstUse('session', nonce)).toBe(true);
  let steps = 0;
  for (; accepted(); clock.step(500), steps += 1) {
    expect(await guard.firstUse('session', nonce), `${steps / 2} s after the first use`).toBe(false);
  }
  expect(steps / 2).toBe(121);
});

test('a full store refuses new keys, removes none, and accepts more as they expire', async () => {
  const clock = steppedClock();
  const store = createMemoryStore({ clock, maxKeys: 3 });
  for (const key of ['a', 'b', 'c']) expect(await store.addOnce(key, 60)).toBe(true);
  await expect(store.addOnce('d', 60)).rejects.toThrow(StoreUnavailableError);
  for (const key of ['a', 'b', 'c']) expect(await store.addOnce(key, 60)).toBe(false);
  clock.step(60_000);
  for (const key of ['d', 'e', 'f']) expect(await store.addOnce(key, 60)).toBe(true);
  await expect(store.addOnce('g', 60)).rejects.toThrow(StoreUnavailableError);
});

test('expired keys make room even behind one that expires later', async () => {
  const clock = steppedClock();
  const store = createMemoryStore({ clock, maxKeys: 3 });
  for (const [key, ttl] of [
    ['long', 3600],
    ['a', 1],
    ['b', 1],
  ] as const) {
    expect(await store.addOnce(key, ttl)).toBe(true);
  }
  clock.step(1000);
  expect(await store.addOnce('b', 60)).toBe(true);
  expect(await store.addOnce('c', 60)).toBe(true);
  expect(await store.addOnce('long', 60)).toBe(false);
});

test('a long sequence of keys leaves no expired one behind and confuses none', () => {
  const clock = steppedClock();
  const keys = createExpiringSet(clock, 1_000_000);
  for (let index = 0; index < 5000; index += 1) {
    expect(keys.addOnce(`key ${index}`, 100)).toBe(true);
    expect(keys.addOnce(`key ${Math.max(0, index - 99)}`, 100)).toBe(false);
    expect(keys.size).toBeLessThanOrEqual(100);
    clock.step(1000);
  }
  clock.step(100_000);
  for (let index = 0; index < 100; index += 1) keys.addOnce(`last ${index}`, 100);
  expect(keys.size).toBe(100);
});

test('a window ends after 60 seconds and the next begins with the next request', async () => {
  vi.useFakeTimers();
  const store = createMemoryStore();
  const limit = { name: 'auth', points: 1 } as const;
  expect(await store.consume(limit, 'client')).toMatchObject({ allowed: true, resetSeconds: 60 });
  vi.advanceTimersByTime(59_999);
  expect(await store.consume(limit, 'client')).toMatchObject({ allowed: false, resetSeconds: 1 });
  vi.advanceTimersByTime(1);
  expect(await store.peek(limit, 'client')).toMatchObject({ allowed: true, remaining: 1, resetSeconds: 60 });
  vi.advanceTimersByTime(30_000);
  expect(await store.consume(limit, 'client')).toMatchObject({ allowed: true, resetSeconds: 60 });
});

test('a window that has ended is ignored although no timer has run, and the wall clock does not change a window', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  const store = createMemoryStore();
  const limit = { name: 'auth', points: 1 } as const;
  await store.consume(limit, 'client');
  for (const step of [3_600_000, -7_200_000]) {
    vi.setSystemTime(Date.now() + step);
    expect(await store.peek(limit, 'client')).toMatchObject({ allowed: false, resetSeconds: 60 });
  }
  vi.advanceTimersByTime(60_000);
  expect(await store.peek(limit, 'client')).toMatchObject({ allowed: true, remaining: 1 });
  expect(await store.consume(limit, 'client')).toMatchObject({ allowed: true, resetSeconds: 60 });
});

test('a store full of windows drops the oldest one and keeps the others', async () => {
  const store = createMemoryStore({ maxWindows: 2 });
  const limit = { name: 'auth', points: 1 } as const;
  await store.consume(limit, 'a');
  await store.consume(limit, 'b');
  await store.consume(limit, 'a');
  await store.consume(limit, 'c');
  expect(await store.peek(limit, 'b')).toMatchObject({ allowed: false });
  expect(await store.peek(limit, 'c')).toMatchObject({ allowed: false });
  expect(await store.peek(limit, 'a')).toMatchObject({ allowed: true });
});
