import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type pg from 'pg';
import type { Logger } from '../../lib/log.ts';
import type { Migration } from '../migrations.ts';
import { createPool } from '../pool.ts';
import { DatabaseStartError } from '../start-error.ts';
import { makeDataDirectory, notStarted, prepareFiles, unusable } from './data-directory.ts';
import { type Lock, type LockOptions, takeLock } from './lock.ts';
import { socketDirectoryPrefix, socketName } from './lock-file.ts';
import { findTemplate, type Template, templatesDirectory } from './template.ts';
import { type DatabaseThread, startThread } from './thread.ts';
import { watchDisk } from './watch-disk.ts';

export interface Embedded {
  readonly pool: pg.Pool;
  readonly thread: DatabaseThread;
  /** True from a write that the disk rejected until a test write succeeds. */
  isReadOnly(): boolean;
  /** Closes the pool, then the database, then releases the lock of the directory. */
  close(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly log: Logger;
  /**
   * Called once when the database dies after the start, or when another process has taken its directory over. The process
   * should end, because no query will be answered any more.
   */
  readonly onFatal: (error: Error) => void;
  readonly migrations: readonly Migration[];
}

/**
 * Starts PostgreSQL in a thread of this process and connects to it.
 * @param directory the data directory; null keeps the database in memory
 * @throws {DatabaseStartError} with a message for the operator
 */
export async function openEmbedded(directory: string | null, options: EmbeddedOptions): Promise<Embedded> {
  let isDead = false;
  const onFatal = (error: Error) => {
    if (isDead) return;
    isDead = true;
    options.onFatal(error);
  };
  const undo: (() => Promise<void>)[] = [];
  const close = async () => {
    const failures: unknown[] = [];
    for (const step of undo.splice(0).reverse()) await step().catch((error) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  };
  try {
    const socketDirectory = await makeSocketDirectory();
    undo.push(() => rm(socketDirectory, { recursive: true, force: true }));
    const socket = join(socketDirectory, socketName);
    const template = readableTemplate(options);
    let thread: DatabaseThread;
    if (directory === null) {
      thread = await startThread(
        { kind: 'serve-memory', archive: template?.archive ?? null, socket },
        onFatal,
      );
    } else {
      const lock = await lockDirectory(resolve(directory), socketDirectory, {
        onLost: onFatal,
        onWait: (message) => options.log.warn(message),
      });
      undo.push(() => lock.release());
      const files = await prepareFiles(resolve(directory), template, lock.assertHeld).catch((error) => {
        throw error instanceof DatabaseStartError ? error : unusable(resolve(directory), error);
      });
      const task = { kind: 'serve', directory: files, socket, lock: lock.ticket } as const;
      thread = await startThread(task, onFatal).catch((error) => {
        throw notStarted(files, error);
      });
    }
    undo.push(() => thread.close());
    const pool = createPool({ ...connection(socketDirectory), ...oneSession }, options.log, null);
    undo.push(() => pool.end());
    if (directory === null) return { pool, thread, isReadOnly: () => false, close };
    const disk = watchDisk({ directory: resolve(directory), pool, log: options.log, onFatal });
    undo.push(disk.close);
    return { pool, thread, isReadOnly: disk.isRefusing, close };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

/**
 * The engine has one session, and pglite-socket interleaves the messages of different connections, so two connections
 * would overwrite each other's unnamed statements. Therefore there is one connection, and the pool is its queue. The
 * connection timeout is long because it includes the time in that queue.
 */
const oneSession = { max: 1, idleTimeoutMillis: 0, connectionTimeoutMillis: 30_000 };

function connection(socketDirectory: string): pg.PoolConfig {
  return { host: socketDirectory, port: 5432, user: 'postgres', database: 'postgres', ssl: false };
}

/** mkdtemp creates it with mode 0700. The database requires no password, so only its owner may access the socket. */
async function makeSocketDirectory(): Promise<string> {
  const prefix = socketDirectoryPrefix();
  try {
    return await mkdtemp(prefix);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new DatabaseStartError(
      'not-writable',
      `The directory for temporary files, ${dirname(prefix)}, cannot be used: ${reason}. Give this user write access, or ` +
        'set TMPDIR to a directory with a short path.',
      { cause: error },
    );
  }
}

/** Null if there is no usable template, so that initdb has to run. */
function readableTemplate({ migrations, log }: EmbeddedOptions): Template | null {
  const template = findTemplate(migrations);
  if (template !== 'unreadable') return template;
  log.warn(
    `This user cannot read the prepared database in ${templatesDirectory}, so creating a database takes seconds longer: ` +
      'make that directory readable for all users; it contains no secrets',
  );
  return null;
}

async function lockDirectory(
  directory: string,
  socketDirectory: string,
  options: LockOptions,
): Promise<Lock> {
  try {
    await makeDataDirectory(directory);
    return await takeLock(directory, socketDirectory, options);
  } catch (error) {
    if (error instanceof DatabaseStartError) throw error;
    throw unusable(directory, error);
  }
}
