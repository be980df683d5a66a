import type { Clock } from '../../src/lib/clock.ts';

/** A clock that runs, and that a test can set ahead or back, or hold still. */
export interface SteppableClock extends Clock {
  step(seconds: number): void;
  /** Stands still from now on, save for steps: for what is decided at the edge of a second. */
  hold(): void;
  /** Runs again, from where it stands. */
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
