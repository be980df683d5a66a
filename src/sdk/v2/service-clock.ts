import { unixSeconds } from '../clock.ts';

/** The service's time, as far as this client knows it. */
export interface ServiceClock {
  /** Unix seconds: this device's clock, corrected by what the service has said. */
  seconds(): number;
  /** Corrects the clock by a signed time, in memory: the device's clock may be right the next time. */
  learn(time: number): void;
}

export function createServiceClock(now: () => number): ServiceClock {
  let offset = 0;
  return {
    seconds: () => unixSeconds(now) + offset,
    learn(time) {
      offset = time - unixSeconds(now);
    },
  };
}
