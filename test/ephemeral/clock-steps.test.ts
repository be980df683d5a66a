import { expect, onTestFinished, test, vi } from 'vitest';
import { createMemoryStore } from '../../src/ephemeral/memory.ts';
import { createRedisStore } from '../../src/ephemeral/redis.ts';
import { parseRedisUrl } from '../../src/ephemeral/redis-address.ts';
import { createReplayGuard } from '../../src/ephemeral/replay-guard.ts';
import { createStepBackDetector } from '../../src/lib/clock-steps.ts';
import { redisInstances, redisUrl } from './support.ts';

/** Replay protection while the wall clock is set. */

const hour = 3_600_000;

test('in memory: nonces that expired while the clock was ahead are valid again when it is set back, so their sessions end', async () => {
  let offset = 0;
  const store = createMemoryStore({ clock: { now: () => Date.now() + offset } });
  const guard = createReplayGuard(store);
  const { epoch } = store;
  expect(await guard.firstUse('session', new Uint8Array(16))).toBe(true);
  offset = 3 * hour;
  for (const size of [4, 5, 6, 7]) await guard.firstUse('session', new Uint8Array(size));
  expect(store.epoch, 'ahead, nothing that ended begins anew').toBe(epoch);
  expect(await store.addOnce('another', 1)).toBe(true);
  offset = 0;
  expect(store.epoch).not.toBe(epoch);
  expect(store.epoch, 'once for a step').toBe(store.epoch);
});

test('in memory: a step of a second back is within the reserve of the replay guard', async () => {
  let offset = 0;
  const store = createMemoryStore({ clock: { now: () => Date.now() + offset } });
  await store.addOnce('nonce', 125);
  const { epoch } = store;
  offset = -1_000;
  expect(store.epoch).toBe(epoch);
});

test.skipIf(redisUrl === undefined)(
  'in Redis: the instance whose clock was set back ends all sessions, and refuses requests until that is done',
  async () => {
    const { keyPrefix, open } = redisInstances(redisUrl ?? '');
    let offset = 0;
    const clocks = { wall: () => Date.now() + offset, steady: () => performance.now() };
    const store = await createRedisStore({ address: parseRedisUrl(redisUrl ?? ''), keyPrefix, clocks });
    onTestFinished(store.close);
    const other = await open();
    const { epoch } = store;
    expect(other.epoch).toBe(epoch);
    offset = 3 * hour;
    expect(store.epoch, 'ahead, nothing that ended begins anew').toBe(epoch);
    offset -= 10_000;
    await expect(store.addOnce('nonce', 60)).rejects.toMatchObject({ name: 'StoreUnavailableError' });
    const patient = { timeout: 20_000, interval: 20 };
    await vi.waitFor(() => expect(store.isAvailable()).toBe(true), patient);
    expect(store.epoch).not.toBe(epoch);
    await vi.waitFor(() => expect(other.epoch).toBe(store.epoch), patient);
    expect(await store.addOnce('nonce', 60)).toBe(true);
  },
);

test('a step back is detected once, however late the check; a step ahead is not', () => {
  let [wall, steady] = [1_000_000, 0];
  const wasSetBack = createStepBackDetector({ wall: () => wall, steady: () => steady });
  const pass = (milliseconds: number) => {
    wall += milliseconds;
    steady += milliseconds;
  };
  pass(hour);
  expect(wasSetBack()).toBe(false);
  // Later than at the last check, although it was set back.
  pass(hour);
  wall -= 10_000;
  expect([wasSetBack(), wasSetBack()]).toEqual([true, false]);
  wall += hour;
  expect(wasSetBack()).toBe(false);
  wall -= 10_000;
  expect(wasSetBack()).toBe(true);
});
