/** The service's source of time; tests can stop or step it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Whole seconds since the Unix epoch: the unit of every timestamp in the sealed protocol. */
export function unixSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000);
}
