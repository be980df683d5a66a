import { lockNumbers, ownerOf, pathOf } from './lock-file.ts';
import { lifeOf } from './owner.ts';

/** Who uses a data directory now, for people; null where nobody is known to. Takes no lock, and waits for nothing. */
export async function findHolder(directory: string): Promise<string | null> {
  for (const number of await lockNumbers(directory)) {
    const owner = await ownerOf(pathOf(directory, number));
    if (owner === 'gone') continue;
    if (owner === 'unreadable') return 'another process';
    const life = lifeOf(owner);
    const where = owner.place.split(' ')[0];
    if (life === 'alive') return `process ${owner.pid} (${where})`;
    if (life === 'unknown') return `process ${owner.pid} of another machine or container (${where})`;
  }
  return null;
}
