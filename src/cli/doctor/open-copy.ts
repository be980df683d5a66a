import { mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { copyDirectory } from '../../db/embedded/files.ts';
import { lockNumbers } from '../../db/embedded/lock-file.ts';
import { readMigrations } from '../../db/migrations.ts';
import { DatabaseStartError } from '../../db/start-error.ts';
import { type Connections, connect } from '../database.ts';
import { CommandError } from '../failure.ts';
import type { Terminal } from '../terminal.ts';

/** Disk space for what opening the copy writes, such as the WAL of a recovery. */
const headroomBytes = 64 * 1024 ** 2;

/** The database could not be checked, but nothing is known to be wrong with it. */
export class CheckSkippedError extends CommandError {}

/**
 * Opens a copy of an embedded database that is not in use. The original stays unchanged, even by PostgreSQL's crash
 * recovery, and unlocked, so that a service can start at any time.
 * @throws {CheckSkippedError} when there is no space for a copy, or another process begins to use the database
 * @throws {DatabaseStartError} when the database cannot be opened
 */
export async function openCopy(given: string, signal: AbortSignal, terminal: Terminal): Promise<Connections> {
  const directory = resolve(given);
  await requireSpace(directory);
  const copy = await mkdtemp(join(tmpdir(), 'latchkey-doctor-'));
  const remove = () => rm(copy, { recursive: true, force: true });
  try {
    await copyUnused(directory, copy);
    signal.throwIfAborted();
    const connections = await connect(
      { kind: 'embedded', directory: copy },
      await readMigrations(),
      terminal,
    );
    const close = () => connections.close().finally(remove);
    if (signal.aborted) await close();
    signal.throwIfAborted();
    return { ...connections, close };
  } catch (error) {
    await remove();
    throw error instanceof DatabaseStartError ? withOriginalPath(directory, copy, error) : error;
  }
}

/** Copies the database files. A process creates a lock file before it uses a database, which changes the directory. */
async function copyUnused(directory: string, copy: string): Promise<void> {
  const before = await lockStateOf(directory);
  const failure = await copyDirectory(join(directory, 'postgres'), join(copy, 'postgres')).then(
    () => null,
    (error: unknown) => error,
  );
  if ((await lockStateOf(directory)) !== before) {
    throw new CheckSkippedError(
      `Another process began to use ${directory} during the check, so its database was not checked.`,
    );
  }
  if (failure !== null) throw failure;
}

async function lockStateOf(directory: string): Promise<string> {
  const { mtimeMs } = await stat(directory);
  return [mtimeMs, ...(await lockNumbers(directory)).sort()].join(' ');
}

async function requireSpace(directory: string): Promise<void> {
  const { bavail, bsize } = await statfs(tmpdir());
  const needed = (await sizeOf(join(directory, 'postgres'))) + headroomBytes;
  if (needed <= bavail * bsize) return;
  const mib = Math.ceil(needed / 1024 ** 2).toLocaleString('en-US');
  throw new CheckSkippedError(
    `The database in ${directory} was not checked: a copy of it needs ${mib} MiB, and ${tmpdir()} has less. Set TMPDIR ` +
      'to a directory with more free space.',
  );
}

async function sizeOf(directory: string): Promise<number> {
  let total = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isFile())
      total += (await stat(join(entry.parentPath, entry.name)).catch(() => null))?.size ?? 0;
  }
  return total;
}

const withOriginalPath = (directory: string, copy: string, { problem, message, cause }: DatabaseStartError) =>
  new DatabaseStartError(problem, message.replaceAll(copy, directory), { cause });
