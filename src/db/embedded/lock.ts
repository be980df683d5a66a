import { randomUUID } from 'node:crypto';
import { link, open, readdir, readFile, rm, rmdir, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { DatabaseStartError } from '../start-error.ts';
import { lifeOf, type Owner, thisProcess } from './owner.ts';

/*
 * Two processes on one directory destroy the database silently (design §3), so a lock file names its owner.
 * Locks are numbered. A starter makes the number after the highest, exclusively, so of two that find the same stale
 * lock one wins. Then it looks again: were there another living lock, at least one of the two would see the other's,
 * because each looks after it has made its own. So never two run, whatever the timing.
 */
const lockName = /^postgres\.lock\.(\d{1,9})$/;

const ownerSchema = z.object({
  pid: z.number().int().positive(),
  startTime: z.string().nullable(),
  place: z.string(),
  socketDirectory: z.string(),
});

/** How often a holder touches its lock, for those who cannot see its pid, and how long they watch it. */
const heartbeatMilliseconds = 2_000;
const watchMilliseconds = 10_000;

export interface Lock {
  release(): Promise<void>;
}

/**
 * Takes a data directory for this process.
 * @throws {DatabaseStartError} `locked` when another process has it
 */
export async function takeLock(directory: string, socketDirectory: string): Promise<Lock> {
  const found = await lockNumbers(directory);
  for (const number of found) await refuseIfAlive(directory, number);
  const mine = Math.max(0, ...found) + 1;
  const path = pathOf(directory, mine);
  if (!(await createExclusively(path, thisProcess(socketDirectory)))) {
    await refuseIfAlive(directory, mine);
    throw inUse(directory, 'another process that is starting');
  }
  try {
    for (const number of await lockNumbers(directory)) {
      if (number === mine) continue;
      await refuseIfAlive(directory, number);
      await removeStale(directory, number);
    }
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, heartbeatMilliseconds).unref();
  return {
    release: async () => {
      clearInterval(heartbeat);
      await rm(path, { force: true });
    },
  };
}

async function refuseIfAlive(directory: string, number: number): Promise<void> {
  const path = pathOf(directory, number);
  const owner = await ownerOf(path);
  if (owner === 'gone') return;
  const life = owner === 'unreadable' ? 'unknown' : lifeOf(owner);
  if (life === 'dead') return;
  if (life === 'unknown' && !(await beats(path))) return;
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
async function beats(path: string): Promise<boolean> {
  const before = await touched(path);
  for (let waited = 0; waited < watchMilliseconds; waited += 500) {
    await sleep(500);
    const now = await touched(path);
    if (now === null) return false;
    if (now !== before) return true;
  }
  return false;
}

async function touched(path: string): Promise<number | null> {
  return stat(path).then(
    (stats) => stats.mtimeMs,
    () => null,
  );
}

/** Links a finished file into place, so that no one ever reads half a lock. False when the name is taken. */
async function createExclusively(path: string, owner: Owner): Promise<boolean> {
  const draft = join(dirname(path), `.postgres.lock.${randomUUID()}`);
  try {
    const file = await open(draft, 'wx', 0o600);
    await file
      .writeFile(JSON.stringify(owner))
      .then(() => file.sync())
      .finally(() => file.close());
    await link(draft, path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function ownerOf(path: string): Promise<Owner | 'gone' | 'unreadable'> {
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return (await touched(path)) === null ? 'gone' : 'unreadable';
  try {
    return ownerSchema.parse(JSON.parse(text));
  } catch {
    return 'unreadable';
  }
}

async function removeStale(directory: string, number: number): Promise<void> {
  const owner = await ownerOf(pathOf(directory, number));
  if (typeof owner === 'object' && isSocketDirectory(owner.socketDirectory)) {
    await rm(join(owner.socketDirectory, socketName), { force: true });
    await rmdir(owner.socketDirectory).catch(() => undefined);
  }
  await rm(pathOf(directory, number), { force: true });
}

async function lockNumbers(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names.flatMap((name) => lockName.exec(name)?.[1] ?? []).map(Number);
}

function pathOf(directory: string, number: number): string {
  return join(directory, `postgres.lock.${number}`);
}

/** Beginning of the name of every socket directory, in the system's directory for temporary files. */
export const socketDirectoryPrefix = join(tmpdir(), 'latchkey-');
/** PostgreSQL's name for a Unix socket, which its clients look for. */
export const socketName = '.s.PGSQL.5432';

function isSocketDirectory(path: string): boolean {
  return (
    dirname(path) === dirname(socketDirectoryPrefix) &&
    basename(path).startsWith(basename(socketDirectoryPrefix))
  );
}
