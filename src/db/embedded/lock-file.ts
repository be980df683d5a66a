import { randomUUID } from 'node:crypto';
import { link, open, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { lockName } from './lock-name.ts';
import type { Owner } from './owner.ts';

const ownerSchema = z.object({
  pid: z.number().int().positive(),
  startTime: z.string().nullable(),
  place: z.string(),
  socketDirectory: z.string(),
});

/** When the lock was last invalidations; null when it is gone. */
export async function invalidations(path: string): Promise<number | null> {
  return stat(path).then(
    (stats) => stats.mtimeMs,
    () => null,
  );
}

/** Watches for the touch of a living holder, by the file's own clock alone. */
export async function beats(path: string, watchMilliseconds: number): Promise<boolean> {
  const before = await invalidations(path);
  for (let waited = 0; waited < watchMilliseconds; waited += 500) {
    await sleep(500);
    const now = await invalidations(path);
    if (now === null) return false;
    if (now !== before) return true;
  }
  return false;
}

/**
 * Links a finished file into place, so that no one ever reads half a lock.
 * @returns its text, which no other lock has; null when the name is taken
 */
export async function createExclusively(path: string, owner: Owner): Promise<string | null> {
  const text = JSON.stringify({ ...owner, token: randomUUID() });
  const draft = join(dirname(path), `.postgres.lock.${randomUUID()}`);
  try {
    const file = await open(draft, 'wx', 0o600);
    await file
      .writeFile(text)
      .then(() => file.sync())
      .finally(() => file.close());
    await link(draft, path);
    return text;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return null;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Who holds a lock file, if that can be read. */
export async function ownerOf(path: string): Promise<Owner | 'gone' | 'unreadable'> {
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return (await invalidations(path)) === null ? 'gone' : 'unreadable';
  try {
    return ownerSchema.parse(JSON.parse(text));
  } catch {
    return 'unreadable';
  }
}

/** Removes a dead owner's lock, and the socket that it left. */
export async function removeStale(directory: string, number: number): Promise<void> {
  const owner = await ownerOf(pathOf(directory, number));
  if (typeof owner === 'object' && isSocketDirectory(owner.socketDirectory)) {
    await rm(join(owner.socketDirectory, socketName), { force: true });
    await rmdir(owner.socketDirectory).catch(() => undefined);
  }
  await rm(pathOf(directory, number), { force: true });
}

/** Numbers of the lock files in a directory. */
export async function lockNumbers(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names.flatMap((name) => lockName.exec(name)?.[1] ?? []).map(Number);
}

/** Path of a lock by its number. */
export function pathOf(directory: string, number: number): string {
  return join(directory, `postgres.lock.${number}`);
}

/** PostgreSQL's name for a Unix socket, which its clients look for. */
export const socketName = '.s.PGSQL.5432';

/** In bytes; Linux takes 107. What is longer is cut, and the socket would lie where others reach it. */
const longestSocketPath = 103;
/** For a socket whose path would be too long in the system's directory for temporary files. */
const shortDirectory = '/tmp';
const namePrefix = 'latchkey-';

/** Beginning of the name of a new socket directory: with what mkdtemp adds, the socket's path is short enough. */
export function socketDirectoryPrefix(): string {
  const usual = join(resolve(tmpdir()), namePrefix);
  const path = join(`${usual}XXXXXX`, socketName);
  return Buffer.byteLength(path) <= longestSocketPath ? usual : join(shortDirectory, namePrefix);
}

const isSocketDirectory = (path: string): boolean =>
  [resolve(tmpdir()), shortDirectory].includes(dirname(path)) && basename(path).startsWith(namePrefix);
