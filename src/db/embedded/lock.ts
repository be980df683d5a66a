import { rm, utimes } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseStartError } from '../start-error.ts';
import { createExclusively, lockNumbers, ownerOf, pathOf, removeStale, touched } from './lock-file.ts';
import { lifeOf, thisProcess } from './owner.ts';

/*
 * Two processes on one directory destroy the database silently (design §3), so a lock file names its owner.
 * Locks are numbered. A starter makes the number after the highest, exclusively, so of two that find the same stale
 * lock one wins. Then it looks again: were there another living lock, at least one of the two would see the other's,
 * because each looks after it has made its own. So never two run, whatever the timing.
 */

/** How often a holder touches its lock, for those who cannot see its pid, and how long they watch it. */
const heartbeatMilliseconds = 2_000;
const defaultWatchMilliseconds = 10_000;

export interface Lock {
  release(): Promise<void>;
}

/**
 * Takes a data directory for this process.
 * @param watchMilliseconds how long to watch for a sign of life of an owner whose pid means nothing here
 * @throws {DatabaseStartError} `locked` when another process has it
 */
export async function takeLock(
  directory: string,
  socketDirectory: string,
  watchMilliseconds = defaultWatchMilliseconds,
): Promise<Lock> {
  const found = await lockNumbers(directory);
  for (const number of found) await refuseIfAlive(directory, number, watchMilliseconds);
  const mine = Math.max(0, ...found) + 1;
  const path = pathOf(directory, mine);
  if (!(await createExclusively(path, thisProcess(socketDirectory)))) {
    await refuseIfAlive(directory, mine, watchMilliseconds);
    throw inUse(directory, 'another process that is starting');
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, heartbeatMilliseconds).unref();
  const release = async () => {
    clearInterval(heartbeat);
    await rm(path, { force: true });
  };
  try {
    for (const number of await lockNumbers(directory)) {
      if (number === mine) continue;
      await refuseIfAlive(directory, number, watchMilliseconds);
      await removeStale(directory, number);
    }
  } catch (error) {
    await release();
    throw error;
  }
  return { release };
}

async function refuseIfAlive(directory: string, number: number, watchMilliseconds: number): Promise<void> {
  const path = pathOf(directory, number);
  const owner = await ownerOf(path);
  if (owner === 'gone') return;
  const life = owner === 'unreadable' ? 'unknown' : lifeOf(owner);
  if (life === 'dead') return;
  if (life === 'unknown' && !(await beats(path, watchMilliseconds))) return;
  throw inUse(
    directory,
    owner === 'unreadable' ? 'another process' : `process ${owner.pid} (${owner.place.split(' ')[0]})`,
  );
}

function inUse(directory: string, by: string): DatabaseStartError {
  return new DatabaseStartError(
    'locked',
    `The data directory ${directory} is in use by ${by}. One process at a time can use it: stop that one, give this ` +
      'one another DATA_DIR, or set DATABASE_URL to run several on a PostgreSQL server.',
  );
}

/** Watches for the touch of a living holder, by the file's own clock alone. */
async function beats(path: string, watchMilliseconds: number): Promise<boolean> {
  const before = await touched(path);
  for (let waited = 0; waited < watchMilliseconds; waited += 500) {
    await sleep(500);
    const now = await touched(path);
    if (now === null) return false;
    if (now !== before) return true;
  }
  return false;
}
