import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { syncDirectory } from '../../lib/sync-directory.ts';
import { CommandError } from '../failure.ts';

/**
 * Refuses a place where a file cannot or must not be put.
 * @param force whether a file that is there may be replaced
 * @throws {CommandError}
 */
export async function checkTarget(path: string, force: boolean): Promise<void> {
  if (path === '')
    throw new CommandError('The name of the file is empty: name one, or "-" for standard output.');
  const there = await stat(path).catch(() => null);
  if (there !== null && !there.isFile()) {
    throw new CommandError(`${path} is no file: name a file, or "-" for standard output.`);
  }
  if (there !== null && !force) {
    throw new CommandError(`${path} exists: name another file, or replace it with --force.`);
  }
  const directory = await stat(dirname(resolve(path))).catch(() => null);
  if (directory?.isDirectory() !== true) {
    throw new CommandError(`There is no directory ${dirname(resolve(path))} to write ${path} in.`);
  }
}

export interface AtomicFile {
  readonly path: string;
  /** Whether a file that is there may be replaced, one that came to be meanwhile too. */
  readonly force: boolean;
  /** Told, for people, what could not be made sure of. */
  warn(message: string): void;
}

/**
 * Puts a file in its place when it is whole and on disk: until then it has another name, and a failure leaves nothing.
 * For its owner alone.
 * @param write ends the stream when it is done
 * @throws {CommandError} when a file came to be there meanwhile, and is not to be replaced
 */
export async function writeAtomically(
  { path, force, warn }: AtomicFile,
  write: (stream: Writable) => Promise<void>,
): Promise<void> {
  const draft = `${path}.partial-${randomBytes(4).toString('hex')}`;
  try {
    // Closed only after an fsync.
    await write(createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }));
    if (!force) await claim(draft, path);
    await rename(draft, path);
    // A second name of the same file stays where it is renamed to the first.
    await rm(draft, { force: true });
  } catch (error) {
    await rm(draft, { force: true });
    throw naming(path, error);
  }
  try {
    syncDirectory(dirname(resolve(path)));
  } catch (error) {
    // As of one that this user may write to and not read.
    const reason = error instanceof Error ? error.message : String(error);
    warn(
      `${path} is whole, but a power cut now could lose its name: its directory cannot be synced (${reason}).`,
    );
  }
}

/** The system's error for a failed write does not name the file. */
function naming(path: string, error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error) || 'path' in error) return error;
  return Object.assign(new CommandError(`${path} could not be written: ${error.message}`, { cause: error }), {
    code: error.code,
  });
}

/** File systems that give a file one name only. */
const oneNameOnly: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Makes a name for a file that has another, or where there can be but one, an empty file: unless the name is taken. */
async function claim(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path).catch(async (error: unknown) => {
      if (!oneNameOnly.has(codeOf(error))) throw error;
      await (await open(path, 'wx', 0o600)).close();
    });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    throw new CommandError(
      `${path} came to be while the backup was made, and has been left as it is: name another file, or replace it with ` +
        '--force.',
      { cause: error },
    );
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
