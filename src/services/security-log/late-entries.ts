import { newId, timeOfId } from '../../lib/ids.ts';
import type { PendingEntry } from '../changes/carry.ts';
import type { ChangeFeed } from '../changes/changes.ts';

/** With more late entries, the oldest of them is announced for every application, so that messages stay small. */
const maxAnnounced = 500;
/** An entry that has not become visible after this many milliseconds is announced to the other instances. */
const announceAfter = 400;
const announceEvery = 250;
/** How long an announcement counts, in milliseconds: its sender may have died since. */
const announcementLifetime = 2_000;
/** Followers wait for no entry longer than this: an instance that lost the database must not silence the others. */
const longestWait = 30_000;

/** Tells the other instances which entries of this one become visible late, and knows theirs. */
export interface LateEntries {
  /** What other instances have announced. */
  pendingElsewhere(): Iterable<PendingEntry>;
  close(): void;
}

export interface LateEntriesOptions {
  readonly changes: Pick<ChangeFeed, 'lateEntries'>;
  /** What this instance has not made visible yet. */
  readonly pending: () => readonly PendingEntry[];
  /** Called when entries that another instance announced are no longer late. */
  readonly onReleased: () => void;
}

export function createLateEntries({ changes, pending, onReleased }: LateEntriesOptions): LateEntries {
  const { lateEntries } = changes;
  if (lateEntries === null) return { pendingElsewhere: () => [], close: () => undefined };
  const others = new Map<string, { readonly entries: readonly PendingEntry[]; readonly until: number }>();
  let announced = false;

  /** The entries of this instance that take longer than the others wait by themselves, by the clock of the ids. */
  function late(): readonly PendingEntry[] {
    const all = pending();
    if (all.length === 0) return [];
    const now = timeOfId(newId());
    const found = all.filter(({ id }) => now - timeOfId(id) > announceAfter);
    const oldest = found.reduce((low, { id }) => (id < low ? id : low), found[0]?.id ?? '');
    return found.length > maxAnnounced ? [{ applicationId: null, id: oldest }] : found;
  }

  const timer = setInterval(() => {
    const found = late();
    // An empty announcement once, so that the others continue at once.
    if (found.length > 0 || announced) lateEntries.announce(found);
    announced = found.length > 0;
  }, announceEvery).unref();

  lateEntries.listen((instance, entries) => {
    const before = others.get(instance);
    if (entries.length > 0)
      others.set(instance, { entries, until: performance.now() + announcementLifetime });
    else others.delete(instance);
    if (before !== undefined && JSON.stringify(before.entries) !== JSON.stringify(entries)) onReleased();
  });

  return {
    *pendingElsewhere() {
      const oldest = Date.now() - longestWait;
      for (const [instance, { entries, until }] of others) {
        if (until < performance.now()) others.delete(instance);
        else yield* entries.filter(({ id }) => timeOfId(id) > oldest);
      }
    },
    close: () => clearInterval(timer),
  };
}
