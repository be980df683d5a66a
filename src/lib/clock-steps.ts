/** The machine's wall clock and monotonic clock, in milliseconds. */
export interface ClockPair {
  /** Milliseconds since the Unix epoch; can be set back. */
  wall(): number;
  /** Milliseconds since an arbitrary moment; never steps. */
  steady(): number;
}

const systemClocks: ClockPair = { wall: () => Date.now(), steady: () => performance.now() };

/** Smaller differences, in milliseconds, are not steps: the two clocks are not read at the same instant. */
const toleranceMilliseconds = 2_000;

/**
 * Detects that the wall clock was set back since the last call, by comparing it with the monotonic clock.
 * @returns a function that returns true once per step
 */
export function createStepBackDetector({ wall, steady }: ClockPair = systemClocks): () => boolean {
  let ahead = wall() - steady();
  return () => {
    const now = wall() - steady();
    const isStep = now < ahead - toleranceMilliseconds;
    ahead = isStep ? now : Math.max(ahead, now);
    return isStep;
  };
}
