import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
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
 * @throws {DatabaseStartError} when what is there cannot be opened
 */
export async function prepareFiles(dataDirectory: string, template: Template | null): Promise<string> {
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
  if (template === null) {
    await mkdir(draft, { mode: 0o700 });
    await createInThread(draft);
  } else {
    await copyDirectory(template.directory, draft);
    await chmod(draft, 0o700);
  }
  await syncTree(draft);
  await rename(draft, files);
  await syncPath(dataDirectory);
  return files;
}

async function checkFiles(files: string): Promise<void> {
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
const writeAdvice: ReadonlyMap<unknown, string> = new Map([
  ['ENOSPC', 'Free some space on its disk'],
  ['EDQUOT', "Free some of this user's space on its disk"],
  ['EROFS', 'Mount its disk so that it can be written'],
]);

/** The directory cannot be written, or its disk is full. */
export function unusable(directory: string, error: unknown): DatabaseStartError {
  const reason = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const advice = writeAdvice.get(code) ?? 'Let this user write there';
  return new DatabaseStartError(
    'not-writable',
    `The data directory ${directory} cannot be used: ${reason}. ${advice}, or set DATA_DIR.`,
    { cause: error },
  );
}

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
    `The database in ${files} could not be started: ${reason}. Nothing says that its files are damaged: mend that, and ` +
      'start again.',
    { cause: error },
  );
}
