import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseStartError } from '../start-error.ts';
import { copyDirectory, syncPath, syncTree } from './files.ts';
import type { Template } from './template.ts';
import { createInThread, EngineError } from './thread.ts';

/** The PostgreSQL version inside the pinned PGlite. It cannot open files of other major versions. */
export const engineMajorVersion = 18;

/** Creates the data directory if it is missing. Only its owner has access. */
export async function makeDataDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
}

/**
 * Returns the directory of the database files, `postgres` in the data directory, and creates it if it is missing. A new
 * one is created under a temporary name, synced and renamed, so it is never partial. Call this while holding the lock.
 * @param assertHeld throws when the lock is lost
 * @throws {DatabaseStartError} when the existing files cannot be opened
 */
export async function prepareFiles(
  dataDirectory: string,
  template: Template | null,
  assertHeld: () => void,
): Promise<string> {
  const files = join(dataDirectory, 'postgres');
  const leftover = /^postgres\.new-/;
  const names = await readdir(dataDirectory);
  for (const name of names.filter((each) => leftover.test(each))) {
    await rm(join(dataDirectory, name), { recursive: true, force: true });
  }
  if (names.includes('postgres') && (await readdir(files)).length > 0) {
    await checkFiles(files);
    return files;
  }
  const draft = join(dataDirectory, `postgres.new-${randomUUID()}`);
  try {
    await makeFiles(draft, template);
  } catch (error) {
    // The draft may have filled the disk.
    await rm(draft, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
  assertHeld();
  await rename(draft, files);
  await syncPath(dataDirectory);
  return files;
}

async function makeFiles(draft: string, template: Template | null): Promise<void> {
  if (template === null) {
    await mkdir(draft, { mode: 0o700 });
    await createInThread(draft);
  } else {
    await copyDirectory(template.directory, draft);
  }
  await syncTree(draft);
}

async function checkFiles(files: string): Promise<void> {
  const owner = (await stat(files)).uid;
  // Root can write to the directory, but would leave files that the owner cannot open.
  if (process.getuid?.() === 0 && owner !== 0) throw ownedByOther(files, owner);
  const version = (await readFile(join(files, 'PG_VERSION'), 'utf8').catch(() => '')).trim();
  const control = await stat(join(files, 'global/pg_control')).catch(() => null);
  if (!/^\d+$/.test(version) || control === null || control.size === 0) {
    throw damaged(files, 'PG_VERSION or global/pg_control is missing');
  }
  if (Number(version) !== engineMajorVersion) {
    throw new DatabaseStartError(
      'other-major-version',
      `The database in ${files} was written by PostgreSQL ${version}, and this version of Latchkey has PostgreSQL ` +
        `${engineMajorVersion}, which cannot read it. Run the version that wrote it, and move the data with "latchkey ` +
        'backup" and "latchkey restore".',
    );
  }
}

/** Advice for a directory that is not writable, by error code of the operating system. */
const freeSpace = 'Free some space on its disk, or delete files if it has no free inodes (df -i)';
const writeAdvice: ReadonlyMap<unknown, string> = new Map([
  ['ENOSPC', freeSpace],
  ['EDQUOT', "Free some of this user's space on its disk"],
  ['EROFS', 'Remount its disk as writable'],
]);

/** The error for a directory that is not writable, for example because its disk is full. */
export function unusable(directory: string, error: unknown): DatabaseStartError {
  const reason = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const advice =
    writeAdvice.get(code) ??
    `Give this user${userId()} read and write access to ${placeOf(directory, error)}`;
  return new DatabaseStartError(
    'not-writable',
    `The data directory ${directory} cannot be used: ${reason}. ${advice}, or set DATA_DIR.`,
    { cause: error },
  );
}

function userId(): string {
  const id = process.getuid?.();
  return id === undefined ? '' : ` (uid ${id})`;
}

/** The path in the operating system's error, or its closest existing parent directory. */
function placeOf(directory: string, error: unknown): string {
  const named = error instanceof Error && 'path' in error ? error.path : undefined;
  let place = typeof named === 'string' ? named : directory;
  while (!existsSync(place) && place !== dirname(place)) place = dirname(place);
  return place;
}

const ownedByOther = (files: string, owner: number): DatabaseStartError =>
  new DatabaseStartError(
    'not-writable',
    `The database in ${files} belongs to the user with uid ${owner}, and root would leave files there that this user ` +
      `cannot open. Run this command as that user: sudo -u '#${owner}' …`,
  );

/** The error for files that the engine cannot open. */
function damaged(files: string, reason: string, cause?: unknown): DatabaseStartError {
  return new DatabaseStartError(
    'damaged',
    `The database in ${files} cannot be opened: ${reason}. Restore a backup ` +
      'of the whole directory, or move the directory away to start with an empty database.',
    { cause },
  );
}

/** Errors of the operating system, which say nothing about the state of the files. */
const refusedBySystem = /No space left|quota|Permission denied|Read-only|Too many open files|Out of memory/i;

/** The error for an engine that did not start. */
export function notStarted(files: string, error: unknown): DatabaseStartError {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof EngineError && !refusedBySystem.test(reason)) return damaged(files, reason, error);
  return new DatabaseStartError(
    'not-started',
    `The database in ${files} could not be started: ${reason}. Its files are probably not damaged. ` +
      `${/No space left/i.test(reason) ? freeSpace : 'Fix the cause'}, and start again.`,
    { cause: error },
  );
}
