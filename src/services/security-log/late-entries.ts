import { newId, timeOfId } from '../../lib/ids.ts';
import type { PendingEntry } from '../changes/carry.ts';
import type { ChangeFeed } from '../changes/changes.ts';

/** If there are more late entries, only the oldest is announced, for all applications, so that messages stay small. */
const maxAnnounced = 500;
/** An entry that is not visible after this time, in milliseconds, is announced to the other instances. */
const announceAfter = 400;
const announceEvery = 250;
/** How long an announcement is valid, in milliseconds. Its sender may have died since. */
const announcementLifetime = 2_000;
/** Maximum wait for an entry: an instance that has lost the database must not silence the streams of the others. */
const longestWait = 30_000;

/** Announces this instance's late entries to the other instances, and receives theirs. */
export interface LateEntries {
  /** What other instances have announced. */
  pendingElsewhere(): Iterable<PendingEntry>;
  close(): void;
}

export interface LateEntriesOptions {
  readonly changes: Pick<ChangeFeed, 'lateEntries'>;
  /** This instance's entries that are not visible yet. */
  readonly pending: () => readonly PendingEntry[];
  /** Called when entries that another instance announced are no longer late. */
  readonly onReleased: () => void;
}

export function createLateEntries({ changes, pending, onReleased }: LateEntriesOptions): LateEntries {
  const { lateEntries } = changes;
  if (lateEntries === null) return { pendingElsewhere: () => [], close: () => undefined };
  const others = new Map<string, { readonly entries: readonly PendingEntry[]; readonly until: number }>();
  let announced = false;

  /** This instance's entries that are not visible in the time that others wait anyway, by the clock of the ids. */
  function late(): readonly PendingEntry[] {
    const all = pending();
    if (all.length === 0) return [];
    const now = timeOfId(newId());
    // The others do not wait for older ones.
    const found = all.filter(({ id }) => {
      const age = now - timeOfId(id);
      return age > announceAfter && age < longestWait;
    });
    const oldest = found.reduce((low, { id }) => (id < low ? id : low), found[0]?.id ?? '');
    return found.length > maxAnnounced ? [{ applicationId: null, id: oldest }] : found;
  }

  const timer = setInterval(() => {
    const found = late();
    // One empty announcement, so that the others continue at once.
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
