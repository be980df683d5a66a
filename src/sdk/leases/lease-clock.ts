import type { ServiceClock } from '../v2/service-clock.ts';
import type { LeaseRecord } from './lease-record.ts';

export interface LeaseClock {
  /** This device's clock, in Unix seconds. */
  seconds(): number;
  /** Notes a time that the service has signed. */
  learn(time: number): void;
  /** The record with the latest time that is now known to have been reached. */
  advanced(record: LeaseRecord): LeaseRecord;
  /**
   * The record with a time that the service has just signed, in the answer to a request of this moment. Such a time is the
   * present, so it ends the refusals after a clock was ahead for a while.
   */
  corrected(record: LeaseRecord, time: number): LeaseRecord;
}

/**
 * Knows which time has been reached at least, so that a clock that is set back cannot stretch a lease.
 * @param builtAt Unix seconds
 */
export function createLeaseClock(clock: ServiceClock, builtAt: number): LeaseClock {
  let signed = 0;
  const latest = (known: number): number => {
    // A clock that is known to be wrong says nothing, and its correction is a guess that must not outlast this process.
    const time = clock.isCorrected() ? 0 : clock.seconds();
    // Compared, because a clock that returns no number must not spoil the record.
    return Math.max(known, builtAt, time > 0 ? time : 0);
  };
  return {
    seconds: clock.seconds,
    learn(time) {
      signed = time;
    },
    // Never lower: the signed time may be of an answer from long ago.
    advanced: (record) => ({ ...record, last: latest(Math.max(record.last, signed)) }),
    corrected: (record, time) => ({ ...record, last: latest(time) }),
  };
}
