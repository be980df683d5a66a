import { newId, timeOfId } from '../../lib/ids.ts';
import type { ChangeFeed } from '../changes/changes.ts';
import type { Hold } from './watermark.ts';

/** With more late entries, the oldest of them is announced for every application, so that messages stay small. */
const mostHolds = 500;
/** An entry that has not become visible after this many milliseconds is announced to the other instances. */
const announceAfter = 400;
const announceEvery = 250;
/** How long an announcement counts, in milliseconds: its sender may have died since. */
const holdLifetime = 2_000;
/** Followers wait for no entry longer than this: an instance that lost the database must not silence the others. */
const longestHold = 30_000;

/** Tells the other instances which entries of this one become visible late, and knows theirs. */
export interface LateEntries {
  /** What other instances hold back. */
  heldElsewhere(): Iterable<Hold>;
  close(): void;
}

export interface LateEntriesOptions {
  readonly changes: Pick<ChangeFeed, 'lateEntries'>;
  /** What this instance has not made visible yet. */
  readonly holds: () => readonly Hold[];
  /** Called when another instance no longer holds what it held. */
  readonly onReleased: () => void;
}

export function createLateEntries({ changes, holds, onReleased }: LateEntriesOptions): LateEntries {
  const { lateEntries } = changes;
  if (lateEntries === null) return { heldElsewhere: () => [], close: () => undefined };
  const others = new Map<string, { readonly holds: readonly Hold[]; readonly until: number }>();
  let announced = false;

  /** The entries of this instance that take longer than the others wait by themselves, by the clock of the ids. */
  function late(): readonly Hold[] {
    const all = holds();
    if (all.length === 0) return [];
    const now = timeOfId(newId());
    const found = all.filter(({ id }) => now - timeOfId(id) > announceAfter);
    const oldest = found.reduce((low, { id }) => (id < low ? id : low), found[0]?.id ?? '');
    return found.length > mostHolds ? [{ applicationId: null, id: oldest }] : found;
  }

  const timer = setInterval(() => {
    const found = late();
    // An empty announcement once, so that the others continue at once.
    if (found.length > 0 || announced) lateEntries.announce(found);
    announced = found.length > 0;
  }, announceEvery).unref();

  lateEntries.listen((instance, held) => {
    const before = others.get(instance);
    if (held.length > 0) others.set(instance, { holds: held, until: performance.now() + holdLifetime });
    else others.delete(instance);
    if (before !== undefined && JSON.stringify(before.holds) !== JSON.stringify(held)) onReleased();
  });

  return {
    *heldElsewhere() {
      const oldest = Date.now() - longestHold;
      for (const [instance, held] of others) {
        if (held.until < performance.now()) others.delete(instance);
        else yield* held.holds.filter(({ id }) => timeOfId(id) > oldest);
      }
    },
    close: () => clearInterval(timer),
  };
}
