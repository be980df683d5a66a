import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseStartError } from '../start-error.ts';
import { copyDirectory, syncPath, syncTree } from './files.ts';
import type { Template } from './template.ts';
import { createInThread, EngineError } from './thread.ts';

/** Major version of the PostgreSQL inside the pinned PGlite; it opens no other's files. */
export const engineMajorVersion = 18;

/** Makes the data directory when there is none, for its owner alone. */
export async function makeDataDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
}

/**
 * The directory of the database's files, `postgres` in the data directory, made when there is none.
 * It appears whole or not at all: it is made beside its place, synced, and renamed. Call it under the lock.
 * @param assertHeld throws when the lock is lost
 * @throws {DatabaseStartError} when what is there cannot be opened
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
    // Others may need the disk that it has filled.
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
  // The superuser may write there, and would leave files that the owner cannot open.
  if (process.getuid?.() === 0 && owner !== 0) throw ownedByOther(files, owner);
  const version = (await readFile(join(files, 'PG_VERSION'), 'utf8').catch(() => '')).trim();
  const control = await stat(join(files, 'global/pg_control')).catch(() => null);
  if (!/^\d+$/.test(version) || control === null || control.size === 0) {
    throw damaged(files, 'PG_VERSION or global/pg_control is missing');
  }
  if (Number(version) !== engineMajorVersion) {
    throw new DatabaseStartError(
      'other-major-version',
      `The database in ${files} was written by PostgreSQL ${version}, and this version has PostgreSQL ` +
        `${engineMajorVersion}, which cannot read it. Run the version that wrote it, or move the data over by export.`,
    );
  }
}

/** What an operator can do about a directory that cannot be written, by the operating system's code. */
const freeSpace = 'Free some space on its disk, or delete files if it has no free inodes (df -i)';
const writeAdvice: ReadonlyMap<unknown, string> = new Map([
  ['ENOSPC', freeSpace],
  ['EDQUOT', "Free some of this user's space on its disk"],
  ['EROFS', 'Mount its disk so that it can be written'],
]);

/** The directory cannot be written, or its disk is full. */
export function unusable(directory: string, error: unknown): DatabaseStartError {
  const reason = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const advice =
    writeAdvice.get(code) ?? `Let this user${userId()} read and write ${placeOf(directory, error)}`;
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

/** Where the operating system refused: the path that it names, or the deepest directory above it that can be seen. */
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
      `cannot open. Run this as that user: sudo -u '#${owner}' …`,
  );

/** The engine does not open these files. */
function damaged(files: string, reason: string, cause?: unknown): DatabaseStartError {
  return new DatabaseStartError(
    'damaged',
    `The database in ${files} cannot be opened: ${reason}. Restore a backup ` +
      'of the whole directory; or, to begin anew, move it away.',
    { cause },
  );
}

/** What the operating system did not let the engine do: its files may be as good as ever. */
const refusedBySystem = /No space left|quota|Permission denied|Read-only|Too many open files|Out of memory/i;

/** The engine did not start on these files. */
export function notStarted(files: string, error: unknown): DatabaseStartError {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof EngineError && !refusedBySystem.test(reason)) return damaged(files, reason, error);
  return new DatabaseStartError(
    'not-started',
    `The database in ${files} could not be started: ${reason}. Nothing says that its files are damaged. ` +
      `${/No space left/i.test(reason) ? freeSpace : 'Mend that'}, and start again.`,
    { cause: error },
  );
}
