import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
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

/**
 * Puts a file in its place when it is whole and on disk: until then it has another name, and a failure leaves nothing.
 * For its owner alone.
 * @param write ends the stream when it is done
 */
export async function writeWhole(path: string, write: (stream: Writable) => Promise<void>): Promise<void> {
  const draft = `${path}.partial-${randomBytes(4).toString('hex')}`;
  try {
    // Closed only after an fsync.
    await write(createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }));
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  syncDirectory(dirname(resolve(path)));
}
