import type { PendingEntry } from '../changes/carry.ts';
import type { SecurityLogRow } from './entry.ts';

/** Entries of applications that another transaction has locked, in the order in which they were added. */
export interface HeldUpEntries {
  readonly rows: readonly SecurityLogRow[];
  add(rows: readonly SecurityLogRow[]): void;
  /** Takes the entries whose application is not locked any more. */
  release(locked: ReadonlySet<string>): readonly SecurityLogRow[];
  /** Drops the oldest ones. */
  drop(amount: number): void;
  /** The lowest id of each application. */
  readonly oldest: readonly PendingEntry[];
}

export function createHeldUpEntries(): HeldUpEntries {
  let rows: readonly SecurityLogRow[] = [];
  // Streams ask for it often, and the rows may be many.
  let oldest: readonly PendingEntry[] = [];

  function keep(kept: readonly SecurityLogRow[]): void {
    rows = kept;
    const lowest = new Map<string | null, string>();
    for (const { applicationId, id } of kept) {
      const before = lowest.get(applicationId);
      if (before === undefined || id < before) lowest.set(applicationId, id);
    }
    oldest = [...lowest].map(([applicationId, id]) => ({ applicationId, id }));
  }

  return {
    get rows() {
      return rows;
    },
    add(more) {
      if (more.length > 0) keep([...rows, ...more]);
    },
    release(locked) {
      const isLocked = ({ applicationId }: SecurityLogRow) =>
        applicationId !== null && locked.has(applicationId);
      const released = rows.filter((row) => !isLocked(row));
      if (released.length > 0) keep(rows.filter(isLocked));
      return released;
    },
    drop(amount) {
      if (amount > 0) keep(rows.slice(amount));
    },
    get oldest() {
      return oldest;
    },
  };
}
