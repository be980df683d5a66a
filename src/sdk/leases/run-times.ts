import type { LeaseEntry } from './lease-record.ts';

/** How far ahead of the run time a lease is charged. It is charged again after that time. */
export const secondsAhead = 60;

export interface RunTimes {
  /** The entry, with the run time of this process added to `used`, since this process first saw the lease. */
  counted(entry: LeaseEntry): LeaseEntry;
  /**
   * The same, with a minute in advance, so that a process that is killed before it writes again has used no more than the
   * record says.
   */
  charged(entry: LeaseEntry): LeaseEntry;
  /** Whether this process has seen the lease. */
  isCounting(entry: LeaseEntry): boolean;
}

/**
 * Counts how long the program has run with each lease. Processes that run at the same time are not added up: the longest
 * counts.
 * @param runTime milliseconds that never decrease
 */
export function createRunTimes(runTime: () => number): RunTimes {
  /** Of each lease: the run time at which its `used` was zero. */
  const origins = new Map<string, number>();
  /** @param ahead seconds */
  function count(entry: LeaseEntry, ahead: number): LeaseEntry {
    const { lease, used } = entry;
    if (lease === null) return entry;
    const origin = origins.get(lease) ?? runTime() - used * 1000;
    origins.set(lease, origin);
    return { ...entry, used: Math.max(used, (runTime() - origin) / 1000 + ahead) };
  }

  return {
    counted: (entry) => count(entry, 0),
    charged: (entry) => count(entry, secondsAhead),
    isCounting: ({ lease }) => lease !== null && origins.has(lease),
  };
}
