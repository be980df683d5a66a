import { lowestId } from '../../db/log-partition.ts';
import { newId, timeOfId } from '../../lib/ids.ts';
import type { PendingEntry } from '../changes/carry.ts';
import type { RecordedEntries } from '../changes/recorded-entries.ts';

/**
 * The time that other instances have to make their entries visible, in milliseconds: the quarter second of their
 * writers, and the difference between their clocks and ours.
 */
export const settleMilliseconds = 1_000;

/** The entries that an open transaction has recorded. */
export interface OpenTransaction extends RecordedEntries {
  /** The applications of these entries, and the developers with new events. */
  readonly topics: readonly string[];
  /** Call it after the commit or rollback: followers no longer wait for its entries. */
  settle(): void;
}

/**
 * Determines how far a follower may read.
 *
 * An id is generated when something happens. Its row becomes visible later: when the writer's batch is stored, or when
 * the transaction commits. Below the watermark, no more rows become visible, so a follower that reads up to it and
 * continues from there misses no entry and reads none twice.
 *
 * - For entries of this instance, this is exact: an id is noted in the tick in which it is generated, and settled when
 *   its row is visible or never will be. Read the watermark before the reading statement takes its snapshot.
 * - For entries of other instances, it is true while their clocks are within half a second of this one and Redis is
 *   available. They have a second to store an entry, and announce entries that take longer (`pendingElsewhere`). An
 *   entry that is stored even later, for example because its instance was cut off from the database and Redis, is in
 *   the list, but not in a live stream that has already passed it.
 */
export interface Watermark {
  /** Followers of this application may read entries below this id. */
  of(applicationId: string): string;
  open(): OpenTransaction;
  /** This instance's oldest unsettled entry of each application, in no order. */
  pending(): readonly PendingEntry[];
}

export interface WatermarkOptions {
  /** Whether other instances write to the same log. */
  readonly shared: boolean;
  /** The writer's oldest unstored entries. */
  readonly oldestWaiting: () => readonly PendingEntry[];
  /** What other instances have announced. */
  readonly pendingElsewhere: () => Iterable<PendingEntry>;
}

export function createWatermark({ shared, oldestWaiting, pendingElsewhere }: WatermarkOptions): Watermark {
  const transactions = new Set<Map<string, string>>();

  function pending(): PendingEntry[] {
    const recorded = [...transactions].flatMap((entries) =>
      [...entries].map(([applicationId, id]) => ({ applicationId, id })),
    );
    return [...recorded, ...oldestWaiting()];
  }

  return {
    of(applicationId) {
      // Above every id that this process has generated since ids last restarted, and below every later one, even if its
      // clock was set back a little. Ids from before a large step back are not waited for.
      const now = newId();
      let watermark = shared ? lowestId(timeOfId(now) - settleMilliseconds) : now;
      const lower = (entries: Iterable<PendingEntry>) => {
        for (const entry of entries) {
          const concerned = entry.applicationId === null || entry.applicationId === applicationId;
          if (concerned && entry.id < watermark) watermark = entry.id;
        }
      };
      lower(pending());
      if (shared) lower(pendingElsewhere());
      return watermark;
    },
    open() {
      const entries = new Map<string, string>();
      const developers = new Set<string>();
      transactions.add(entries);
      return {
        note: (applicationId, id) => {
          // An application's first entry is its oldest, unless ids have restarted in between.
          const first = entries.get(applicationId);
          if (first === undefined || id < first) entries.set(applicationId, id);
        },
        noteEvents: (developerId) => void developers.add(developerId),
        get topics() {
          return [...entries.keys(), ...developers];
        },
        settle: () => void transactions.delete(entries),
      };
    },
    pending,
  };
}
