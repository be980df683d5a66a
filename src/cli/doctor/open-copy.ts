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

/** What an opened database writes besides: its log of a recovery. */
const roomBesides = 64 * 1024 ** 2;

/** There is nothing wrong, and nothing was looked at. */
export class NotLookedInto extends CommandError {}

/**
 * Opens a copy of an embedded database that is not in use. So a look changes nothing, not even by PostgreSQL's recovery
 * after a kill, and takes no lock that would keep a service from starting meanwhile.
 * @throws {NotLookedInto} when there is no room for a copy, or another process has begun to use the database
 * @throws {DatabaseStartError} about the database itself
 */
export async function openCopy(given: string, signal: AbortSignal, terminal: Terminal): Promise<Connections> {
  const directory = resolve(given);
  await expectRoom(directory);
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
    throw error instanceof DatabaseStartError ? about(directory, copy, error) : error;
  }
}

/** A process makes a lock before it uses a database, so the directory tells whether one did meanwhile. */
async function copyUnused(directory: string, copy: string): Promise<void> {
  const before = await traceOf(directory);
  const failure = await copyDirectory(join(directory, 'postgres'), join(copy, 'postgres')).then(
    () => null,
    (error: unknown) => error,
  );
  if ((await traceOf(directory)) !== before) {
    throw new NotLookedInto(
      `Another process began to use ${directory} during the look, so the database inside is not looked into.`,
    );
  }
  if (failure !== null) throw failure;
}

async function traceOf(directory: string): Promise<string> {
  const { mtimeMs } = await stat(directory);
  return [mtimeMs, ...(await lockNumbers(directory)).sort()].join(' ');
}

async function expectRoom(directory: string): Promise<void> {
  const { bavail, bsize } = await statfs(tmpdir());
  const needed = (await sizeOf(join(directory, 'postgres'))) + roomBesides;
  if (needed <= bavail * bsize) return;
  const mib = Math.ceil(needed / 1024 ** 2).toLocaleString('en-US');
  throw new NotLookedInto(
    `The database in ${directory} is not looked into: a copy of it needs ${mib} MiB, which ${tmpdir()} does not have. ` +
      'Set TMPDIR to a directory that has.',
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

const about = (directory: string, copy: string, { problem, message, cause }: DatabaseStartError) =>
  new DatabaseStartError(problem, message.replaceAll(copy, directory), { cause });
