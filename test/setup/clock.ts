import type { Clock } from '../../src/lib/clock.ts';

/** A clock that runs, and that a test can set ahead or back. */
export interface SteppableClock extends Clock {
  step(seconds: number): void;
}

export function createSteppableClock(): SteppableClock {
  let offset = 0;
  return {
    now: () => Date.now() + offset,
    step: (seconds) => {
      offset += seconds * 1000;
    },
  };
}
