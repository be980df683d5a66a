import type { ServiceClock } from '../v2/service-clock.ts';
import type { LeaseRecord } from './lease-record.ts';

export interface LeaseClock {
  /** This device's clock, in Unix seconds. */
  seconds(): number;
  /** Notes a time that the service has just signed. */
  learn(time: number): void;
  /** The record with the latest time that is now known to have been reached. */
  advanced(record: LeaseRecord): LeaseRecord;
}

/**
 * Knows which time has been reached at least, so that a clock that is set back cannot stretch a lease.
 * @param builtAt Unix seconds
 */
export function createLeaseClock(clock: ServiceClock, builtAt: number): LeaseClock {
  let signed: number | null = null;
  return {
    seconds: clock.seconds,
    learn(time) {
      signed = time;
    },
    advanced(record) {
      // A time that the service has signed for this very request is the present. It ends the refusals after a clock was
      // ahead for a while.
      const known = signed ?? record.last;
      signed = null;
      const time = clock.seconds();
      // Compared, because a clock that returns no number must not spoil the record.
      return { ...record, last: Math.max(known, builtAt, time > 0 ? time : 0) };
    },
  };
}
