import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { syncDirectory } from '../../lib/sync-directory.ts';
import { CommandError } from '../failure.ts';

/**
 * Checks that a file can be written to a path.
 * @param force whether an existing file may be replaced
 * @param advice what the command offers instead
 * @throws {CommandError}
 */
export async function checkTarget(
  path: string,
  force: boolean,
  advice = { other: 'name another file, or "-" for standard output', existing: 'replace it with --force' },
): Promise<void> {
  if (path === '') throw new CommandError(`The file name is empty: ${advice.other}.`);
  const there = await stat(path).catch(() => null);
  if (there !== null && !there.isFile()) {
    throw new CommandError(`${path} is not a regular file: ${advice.other}.`);
  }
  if (there !== null && !force) {
    throw new CommandError(`${path} exists: name another file, or ${advice.existing}.`);
  }
  const directory = await stat(dirname(resolve(path))).catch(() => null);
  if (directory?.isDirectory() !== true) {
    throw new CommandError(
      `The directory ${dirname(resolve(path))} does not exist: create it, or name another file.`,
    );
  }
}

export interface AtomicFile {
  readonly path: string;
  /** Whether a file may be replaced, even one created during the write. */
  readonly force: boolean;
  /** Called with a message for people if the file is written but its name may not survive a power loss. */
  warn(message: string): void;
}

/**
 * Writes a file under a temporary name and renames it once it is complete and synced. A failure leaves nothing behind.
 * Only its owner can read the file.
 * @param write writes the content and ends the stream
 * @throws {CommandError} when the write failed, or when `path` was created meanwhile and must not be replaced
 */
export async function writeAtomically(
  { path, force, warn }: AtomicFile,
  write: (stream: Writable) => Promise<void>,
): Promise<void> {
  const draft = `${path}.partial-${randomBytes(4).toString('hex')}`;
  try {
    // `flush` syncs the file before it is closed.
    await write(createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }));
    if (!force) await claim(draft, path);
    await rename(draft, path);
    // After `claim` made a hard link, `rename` does nothing, because both names are the same file: rename(2).
    await rm(draft, { force: true });
  } catch (error) {
    await rm(draft, { force: true });
    throw withPath(path, error);
  }
  try {
    syncDirectory(dirname(resolve(path)));
  } catch (error) {
    // For example, this user may write to the directory but not read it.
    const reason = error instanceof Error ? error.message : String(error);
    warn(
      `${path} is complete, but a power loss now could remove it: its directory cannot be synced (${reason}).`,
    );
  }
}

/** The system's error for a failed write does not name the file. */
function withPath(path: string, error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error) || 'path' in error) return error;
  return Object.assign(new CommandError(`${path} could not be written: ${error.message}`, { cause: error }), {
    code: error.code,
  });
}

/** Error codes of file systems without hard links. */
const noHardLinks: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/**
 * Takes a name that must not exist yet: a hard link to the draft, or an empty file where there are no hard links.
 * @throws {CommandError} when the name exists
 */
async function claim(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path).catch(async (error: unknown) => {
      if (!noHardLinks.has(codeOf(error))) throw error;
      await (await open(path, 'wx', 0o600)).close();
    });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    throw new CommandError(
      `${path} was created during the backup and has not been replaced: name another file, or use --force to replace it.`,
      { cause: error },
    );
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
