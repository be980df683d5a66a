import { unixSeconds } from '../clock.ts';

/** The service's time, as far as this client knows it. */
export interface ServiceClock {
  /** Unix seconds: this device's clock, corrected by what the service has said. */
  seconds(): number;
  /** Whether this device's clock is known to be wrong, so that `seconds` is corrected. */
  isCorrected(): boolean;
  /** Corrects the clock by a signed time, in memory: the device's clock may be right the next time. */
  learn(time: number): void;
}

interface Clocks {
  /** See `ClientOptions`. */
  readonly now: () => number;
  readonly runTime: () => number;
}

interface Correction {
  /** Seconds. */
  readonly offset: number;
  /** How far the clock was ahead of the run time, in milliseconds. */
  readonly lead: number;
}

/** By how much the clock and the run time may drift apart before the clock counts as set, in milliseconds. */
const driftMs = 60_000;

export function createServiceClock({ now, runTime }: Clocks): ServiceClock {
  let correction: Correction | null = null;

  /** Seconds. A correction is of the clock as it was: it ends when someone, such as NTP, has set the clock. */
  function offset(): number {
    if (correction !== null && Math.abs(now() - runTime() - correction.lead) > driftMs) correction = null;
    return correction?.offset ?? 0;
  }

  return {
    seconds: () => unixSeconds(now) + offset(),
    isCorrected: () => offset() !== 0,
    learn(time) {
      correction = { offset: time - unixSeconds(now), lead: now() - runTime() };
    },
  };
}
