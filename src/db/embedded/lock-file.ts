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

/** When the lock file was last touched, in milliseconds since the Unix epoch; null if it no longer exists. */
export async function modifiedAt(path: string): Promise<number | null> {
  return stat(path).then(
    (stats) => stats.mtimeMs,
    () => null,
  );
}

/** Watches whether a holder touches its lock file. It compares only times of the file, so clocks need not agree. */
export async function beats(path: string, watchMilliseconds: number): Promise<boolean> {
  const before = await modifiedAt(path);
  for (let waited = 0; waited < watchMilliseconds; waited += 500) {
    await sleep(500);
    const now = await modifiedAt(path);
    if (now === null) return false;
    if (now !== before) return true;
  }
  return false;
}

/**
 * Creates a lock file. It links a complete file into place, so that no one ever reads a partial one.
 * @returns its text, which is unique to this lock; null if the name is taken
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

/** Reads the owner from a lock file. */
export async function ownerOf(path: string): Promise<Owner | 'gone' | 'unreadable'> {
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return (await modifiedAt(path)) === null ? 'gone' : 'unreadable';
  try {
    return ownerSchema.parse(JSON.parse(text));
  } catch {
    return 'unreadable';
  }
}

/** Removes a dead owner's lock and its socket. */
export async function removeStale(directory: string, number: number): Promise<void> {
  const owner = await ownerOf(pathOf(directory, number));
  if (typeof owner === 'object' && isSocketDirectory(owner.socketDirectory)) {
    await rm(join(owner.socketDirectory, socketName), { force: true });
    await rmdir(owner.socketDirectory).catch(() => undefined);
  }
  await rm(pathOf(directory, number), { force: true });
}

/** The numbers of the lock files in a directory. */
export async function lockNumbers(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names.flatMap((name) => lockName.exec(name)?.[1] ?? []).map(Number);
}

/** The path of a lock file. */
export function pathOf(directory: string, number: number): string {
  return join(directory, `postgres.lock.${number}`);
}

/** The name of a Unix socket that PostgreSQL clients expect for port 5432. */
export const socketName = '.s.PGSQL.5432';

/**
 * In bytes: macOS allows 103, Linux 107. A longer path is truncated, so the socket would be in a directory that others can
 * access.
 */
const maxSocketPath = 103;
/** Used if the path in the system's directory for temporary files would be too long. */
const shortDirectory = '/tmp';
const namePrefix = 'latchkey-';

/** The prefix of a new socket directory. With mkdtemp's suffix, the path of the socket is short enough. */
export function socketDirectoryPrefix(): string {
  const usual = join(resolve(tmpdir()), namePrefix);
  const path = join(`${usual}XXXXXX`, socketName);
  return Buffer.byteLength(path) <= maxSocketPath ? usual : join(shortDirectory, namePrefix);
}

const isSocketDirectory = (path: string): boolean =>
  [resolve(tmpdir()), shortDirectory].includes(dirname(path)) && basename(path).startsWith(namePrefix);
