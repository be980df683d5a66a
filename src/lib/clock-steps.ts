/** Clocks of a machine: the one that people set, and the one that only runs. In milliseconds. */
export interface ClockPair {
  /** Since the Unix epoch; it can be set back. */
  wall(): number;
  /** Since some moment; it never steps. */
  steady(): number;
}

const systemClocks: ClockPair = { wall: () => Date.now(), steady: () => performance.now() };

/** Less than this is no step, in milliseconds: reading two clocks takes its time. */
const toleranceMilliseconds = 2_000;

/**
 * Notices that the wall clock was set back, however long nobody looked: it then stands earlier than the steady clock
 * says it should.
 * @returns asks; true once for each step
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
