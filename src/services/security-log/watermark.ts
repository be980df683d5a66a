import { lowestId } from '../../db/log-partition.ts';
import { newId, timeOfId } from '../../lib/ids.ts';
import type { PendingEntry } from '../changes/carry.ts';
import type { RecordedEntries } from '../recorded-entries.ts';

/**
 * How long other instances have to make their entries visible, in milliseconds: the quarter second of their writers,
 * and what lies between their clocks and ours.
 */
export const settleMilliseconds = 1_000;

/** The entries that a transaction has recorded, until it has ended. */
export interface OpenTransaction extends RecordedEntries {
  /** The applications that it has noted entries of. */
  readonly applications: readonly string[];
  /** It was committed or rolled back: followers no longer wait for its entries. */
  settle(): void;
}

/**
 * Tells how far a follower may read.
 *
 * An id is made when something happens, and its row becomes visible later: when the writer's batch is stored, or when
 * the transaction commits. Below the watermark nothing becomes visible any more, so that a follower which reads up to it
 * and goes on from there misses nothing and reads nothing twice.
 *
 * - Of this instance that is exact: an id is noted in the same tick in which it is made, and settled once its row is
 *   visible or never will be. Ask for the watermark before the statement that reads takes its snapshot.
 * - Of other instances it holds as long as their clocks are within half a second of this one and Redis is there: what
 *   they write within a second is waited for, and what takes them longer they announce (`pendingElsewhere`). What comes
 *   later still, such as the entries of an instance that was cut off from the database and from Redis, is in the list
 *   and not in a live stream that has passed it.
 */
export interface Watermark {
  /** This application's followers may read entries below this id. */
  of(applicationId: string): string;
  open(): OpenTransaction;
  /** The oldest unsettled entry of this instance for every application, in no order. */
  pending(): readonly PendingEntry[];
}

export interface WatermarkOptions {
  /** Whether other instances write to the same log. */
  readonly shared: boolean;
  /** The oldest entry that waits to be written behind, or is being written; null when there is none. */
  readonly oldestWaiting: () => string | null;
  /** What other instances have announced. */
  readonly pendingElsewhere: () => Iterable<PendingEntry>;
}

export function createWatermark({ shared, oldestWaiting, pendingElsewhere }: WatermarkOptions): Watermark {
  const transactions = new Set<Map<string, string>>();

  function pending(): PendingEntry[] {
    const waiting = oldestWaiting();
    const recorded = [...transactions].flatMap((entries) =>
      [...entries].map(([applicationId, id]) => ({ applicationId, id })),
    );
    return waiting === null ? recorded : [...recorded, { applicationId: null, id: waiting }];
  }

  return {
    of(applicationId) {
      // Above every id that this process has made since ids last restarted, and below every id that it will make, even if
      // its clock stepped back a little. Ids from before a large step back are not waited for.
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
      transactions.add(entries);
      return {
        note: (applicationId, id) => {
          // The first entry of an application is its oldest, unless ids restarted in between.
          const first = entries.get(applicationId);
          if (first === undefined || id < first) entries.set(applicationId, id);
        },
        get applications() {
          return [...entries.keys()];
        },
        settle: () => void transactions.delete(entries),
      };
    },
    pending,
  };
}
