import { nameOf, watchMilliseconds } from './lock.ts';
import { beats, lockNumbers, ownerOf, pathOf } from './lock-file.ts';
import { lifeOf } from './owner.ts';

export interface Holder {
  /** For people. */
  readonly name: string;
  /** False where it runs, or ran, elsewhere, and has shown no sign of life: it may have left its lock. */
  readonly isAlive: boolean;
}

/**
 * Who has the lock of a data directory; null where nobody living has. Takes no lock and changes nothing.
 * @param watch how long to watch for a sign of life of one whose pid means nothing here
 */
export async function findHolder(directory: string, watch = watchMilliseconds): Promise<Holder | null> {
  let silent: Holder | null = null;
  for (const number of await lockNumbers(directory)) {
    const path = pathOf(directory, number);
    const owner = await ownerOf(path);
    if (owner === 'gone') continue;
    const life = owner === 'unreadable' ? 'unknown' : lifeOf(owner);
    if (life === 'dead') continue;
    const name = life === 'alive' ? nameOf(owner) : `${nameOf(owner)} of another machine, container or boot`;
    if (life === 'alive' || (await beats(path, watch))) return { name, isAlive: true };
    silent = { name, isAlive: false };
  }
  return silent;
}
