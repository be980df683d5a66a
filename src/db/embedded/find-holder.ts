import { nameOf, watchMilliseconds } from './lock.ts';
import { beats, lockNumbers, ownerOf, pathOf } from './lock-file.ts';
import { lifeOf } from './owner.ts';

export interface Holder {
  /** The holder's name in messages. */
  readonly name: string;
  /** False if its pid is not meaningful here and it has no heartbeats: the lock may be stale. */
  readonly isAlive: boolean;
}

/**
 * Finds the holder of a data directory's lock, without taking a lock or changing anything.
 * @param watch how long to watch for heartbeats of a holder whose pid is not meaningful here, in milliseconds
 * @returns null if there is no lock, or its holder is dead
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
