import type { Clock } from '../../src/lib/clock.ts';

/** A running clock that a test can set ahead or back, or stop. */
export interface SteppableClock extends Clock {
  step(seconds: number): void;
  /** Stops, except for steps: for decisions at the boundary of a second. */
  hold(): void;
  /** Runs again from its current time. */
  release(): void;
}

export function createSteppableClock(): SteppableClock {
  let offset = 0;
  let held: number | undefined;
  const real = () => held ?? Date.now();
  return {
    now: () => real() + offset,
    step: (seconds) => {
      offset += seconds * 1000;
    },
    hold: () => {
      held = real();
    },
    release: () => {
      if (held !== undefined) offset += held - Date.now();
      held = undefined;
    },
  };
}
