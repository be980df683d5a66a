import { expect, test } from 'vitest';
import { restartDelay, soonLost } from '../../src/supervisor/restart-delay.ts';

/** How long the place of a worker stays empty each time, when it ends after so many milliseconds. */
function delaysAfter(served: readonly (number | null)[]): number[] {
  let timesLost = 0;
  return served.map((milliseconds) => {
    timesLost = soonLost(timesLost, milliseconds);
    return restartDelay(timesLost);
  });
}

test('a worker that ends again and again waits longer each time, and two seconds at most', () => {
  expect(delaysAfter([500, null, null, 3, null, null, null])).toEqual([
    0, 250, 500, 1_000, 2_000, 2_000, 2_000,
  ]);
});

test('one that has served for a while is started again at once, whatever came before', () => {
  expect(delaysAfter([null, null, null, 3_600_000, null])).toEqual([0, 250, 500, 0, 250]);
});
