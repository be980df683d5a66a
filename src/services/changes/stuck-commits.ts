import type { WaitingCommit } from './read.ts';

/**
 * A commit that has waited this long for a standby is stuck, in milliseconds. With the pauses between the looks, its
 * request is answered within three seconds.
 */
const patienceMilliseconds = 1_500;

/** Tells commits that are stuck from those that wait for a standby as usual. */
export interface StuckCommits {
  /**
   * Takes what a look has found.
   * @param now when the look began, by the monotonic clock
   * @returns the backends of those that have waited for too long; the server confirms writes if there are none
   */
  note(waiting: readonly WaitingCommit[], now: number): ReadonlySet<number>;
}

/**
 * Only a transaction that is waiting at each look has waited in between. The times of its statement say less: one that ran
 * for seconds, or commits several times, may have begun to wait just now.
 */
export function createStuckCommits(): StuckCommits {
  let waitingSince = new Map<string, number>();
  return {
    note(waiting, now) {
      const before = waitingSince;
      waitingSince = new Map(
        waiting.map(({ transactionId }) => [transactionId, before.get(transactionId) ?? now]),
      );
      const isStuck = ({ transactionId }: WaitingCommit) =>
        now - (waitingSince.get(transactionId) ?? now) >= patienceMilliseconds;
      return new Set(waiting.filter(isStuck).map(({ backend }) => backend));
    },
  };
}
