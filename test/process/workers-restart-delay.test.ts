import { expect, test } from 'vitest';
import { restartDelay, soonLost } from '../../src/supervisor/restart-delay.ts';

/** The restart delays of a worker that ends after these times, in milliseconds. */
function delaysAfter(served: readonly (number | null)[]): number[] {
  let timesLost = 0;
  return served.map((milliseconds) => {
    timesLost = soonLost(timesLost, milliseconds);
    return restartDelay(timesLost);
  });
}

test('a worker that keeps ending waits longer each time, up to two seconds', () => {
  expect(delaysAfter([500, null, null, 3, null, null, null])).toEqual([
    0, 250, 500, 1_000, 2_000, 2_000, 2_000,
  ]);
});

test('a worker that has served for a while is restarted at once', () => {
  expect(delaysAfter([null, null, null, 3_600_000, null])).toEqual([0, 250, 500, 0, 250]);
});
