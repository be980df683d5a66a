import { setTimeout as sleep } from 'node:timers/promises';
import type { Action } from './actions.ts';

/** So many do something at once, at most. */
const atOnce = 16;

/**
 * Does things at random, in the proportion of their weights, at most so many a second, until the signal. Who comes late
 * does not catch up: the rate is a bound.
 */
export async function drive(actions: readonly Action[], rate: number, ending: AbortSignal): Promise<void> {
  const total = actions.reduce((sum, { weight }) => sum + weight, 0);
  const pick = (): Action | undefined => {
    let left = Math.random() * total;
    return actions.find(({ weight }) => {
      left -= weight;
      return left < 0;
    });
  };
  const pause = (1_000 * atOnce) / rate;
  const actor = async () => {
    while (!ending.aborted) {
      const start = performance.now();
      await pick()?.act();
      await sleep(Math.max(1, pause - (performance.now() - start)), undefined, { signal: ending }).catch(
        () => undefined,
      );
    }
  };
  await Promise.all(Array.from({ length: atOnce }, actor));
}
