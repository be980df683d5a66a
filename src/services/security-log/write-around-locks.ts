import { isLockTimeout } from '../../db/errors.ts';
import type { SecurityLogRow } from './entry.ts';
import { countUses, noUses, type Uses } from './uses.ts';

/** The result of writing a batch. */
interface Written {
  /** Number of entries that were dropped because they cannot be stored. */
  readonly dropped: number;
  /** Entries to try again, in order, because another transaction has locked the rows that they need. */
  readonly heldUp: readonly SecurityLogRow[];
  readonly heldUpUses: Uses;
}

/**
 * Writes a batch, except entries that wait for a lock. The deletion of an account or application with a million rows
 * locks its row for long, and other developers' entries must not wait for that: after a lock timeout, the batch is
 * written developer by developer.
 * @param write returns the number of entries that it dropped
 * @param locked developers to skip; further developers whose rows are locked are added
 */
export async function writeAroundLocks(
  write: (entries: readonly SecurityLogRow[], uses: Uses) => Promise<number>,
  batch: readonly SecurityLogRow[],
  uses: Uses,
  locked: Set<string>,
): Promise<Written> {
  const free = batch.filter(({ developerId }) => !locked.has(developerId));
  const together = await unlessLocked(write(free, uses));
  if (together !== null) {
    return {
      dropped: together,
      heldUp: batch.filter(({ developerId }) => locked.has(developerId)),
      heldUpUses: noUses,
    };
  }
  let dropped = 0;
  for (const [developerId, own] of byDeveloper(free)) {
    const alone = await unlessLocked(write(own, noUses));
    if (alone === null) locked.add(developerId);
    else dropped += alone;
  }
  const isKept = countUses(uses) > 0 && (await unlessLocked(write([], uses))) === null;
  const heldUp = batch.filter(({ developerId }) => locked.has(developerId));
  return { dropped, heldUp, heldUpUses: isKept ? uses : noUses };
}

/** Null if another transaction locked the needed rows for too long. */
async function unlessLocked(written: Promise<number>): Promise<number | null> {
  try {
    return await written;
  } catch (error) {
    if (isLockTimeout(error)) return null;
    throw error;
  }
}

function byDeveloper(entries: readonly SecurityLogRow[]): Map<string, SecurityLogRow[]> {
  const developers = new Map<string, SecurityLogRow[]>();
  for (const entry of entries) {
    const own = developers.get(entry.developerId);
    if (own === undefined) developers.set(entry.developerId, [entry]);
    else own.push(entry);
  }
  return developers;
}
