import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { syncDirectory } from '../lib/sync-directory.ts';

/** A secret file cannot be used. Creating a new one would lose the data that the old one protects. */
export class MasterSecretError extends Error {
  override readonly name = 'MasterSecretError';
}

/** Permission bits of group and others. */
const othersMode = 0o077;
/** Windows has no permission bits and reports 0666 for every file. */
const hasModes = process.platform !== 'win32';

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

/**
 * Reads a file that only its owner may access; null if it does not exist.
 * @throws {MasterSecretError} if it cannot be read, or if others can access it
 */
export function readSecretFile(path: string): string | null {
  try {
    const file = openSync(path, 'r');
    try {
      refuseOpenMode(path, fstatSync(file).mode);
      return readFileSync(file, 'utf8');
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof MasterSecretError) throw error;
    if (codeOf(error) === 'ENOENT') return null;
    const reason = error instanceof Error ? error.message : String(error);
    const owner = foreignOwnerOf(path);
    const whose =
      owner === null
        ? ''
        : ` It belongs to user ${owner}, and this process runs as user ${process.geteuid?.()}.`;
    throw new MasterSecretError(
      `${path} cannot be read (${reason}).${whose} Make it owned by, and readable only to, the user that the service runs ` +
        'as. It has not been replaced.',
      { cause: error },
    );
  }
}

/** The user id of a file's owner; null if that is this process's user or unknown. */
export function foreignOwnerOf(path: string): number | null {
  try {
    const { uid } = statSync(path);
    return process.geteuid === undefined || uid === process.geteuid() ? null : uid;
  } catch {
    return null;
  }
}

function refuseOpenMode(path: string, mode: number): void {
  if (!hasModes || (mode & othersMode) === 0) return;
  throw new MasterSecretError(
    `${path} can be read or written by others (its mode is ${(mode & 0o777).toString(8)}). Run "chmod 600 ${path}"; ` +
      'if others may have read it, also run "latchkey rotate-secret". On a file system without permissions, set ' +
      'SERVICE_SECRET instead.',
  );
}

/** Creates a file atomically and durably. Returns false if it already exists. */
export function createSecretFile(path: string, text: string): boolean {
  return withDraft(path, text, (draft) => {
    try {
      linkSync(draft, path);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    }
  });
}

/** Replaces a file atomically and durably: after a crash, either the old or the new one exists. */
export function replaceSecretFile(path: string, text: string): void {
  withDraft(path, text, (draft) => renameSync(draft, path));
}

/** Removes a file durably, if it exists. */
export function removeSecretFile(path: string): void {
  rmSync(path, { force: true });
  syncDirectory(dirname(path));
}

/** Removes temporary files of processes that were killed while writing; they were never in use. */
export function removeDrafts(path: string): void {
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path))) {
    const rest = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    if (/^[0-9a-f]{12}$/.test(rest)) rmSync(join(dirname(path), name), { force: true });
  }
}

function withDraft<Result>(path: string, text: string, use: (draft: string) => Result): Result {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    const result = use(draft);
    syncDirectory(dirname(path));
    return result;
  } finally {
    rmSync(draft, { force: true });
  }
}
