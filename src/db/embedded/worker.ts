import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { DurableFiles, durableStartParams, startParams } from './durable-files.ts';
import { guardEngine } from './guard-engine.ts';
import { HeldLock } from './held-lock.ts';
import type { Reply, Request, Task } from './messages.ts';

/** The thread that PostgreSQL runs in, so that a slow query does not block the event loop. */

/**
 * How much of a WebAssembly function runs before V8 optimizes it. V8's default, a hundredth of this, optimizes start-up
 * code that never runs again, which costs a third of the engine's start and 40 MB.
 */
setFlagsFromString('--wasm-tiering-budget=180000000');

/** Only fatal messages are repeated: other lines can contain user input. */
const complaints: string[] = [];
const onStderr = (line: string) => {
  if (/\b(FATAL|PANIC)\b/.test(line)) complaints.push(line.replace(/^.*?(?=FATAL|PANIC)/, ''));
  return false;
};

/**
 * The service creates no further databases. Without these templates, a first start has 600 fewer files to copy and sync,
 * and there is no database without connections that could never be vacuumed against transaction id wraparound.
 */
const dropTemplates = [
  `UPDATE pg_database SET datistemplate = false`,
  'DROP DATABASE template0',
  'DROP DATABASE template1',
];

/** The extensions of search-indexes.ts. A database with these indexes cannot be written to without the extensions. */
const extensions = { pg_trgm, btree_gin };

function reply(message: Reply): void {
  parentPort?.postMessage(message);
}

/** Ends the thread at once, even from inside the engine: after a failed fsync or a trap, its memory is unreliable. */
const fail = (error: unknown): never => end(error, false);
/** Ends the thread because PostgreSQL could not open its files. */
const failToOpen = (error: unknown): never => end(error, true);

function end(error: unknown, byEngine: boolean): never {
  const reason = error instanceof Error ? error.message : String(error);
  reply({ kind: 'failed', message: [...complaints.slice(-3), reason].join(' | '), byEngine });
  process.exit(1);
}

async function run(task: Task): Promise<void> {
  if (task.kind === 'create') {
    const engine = await PGlite.create({ dataDir: task.directory, onStderr });
    for (const statement of dropTemplates) await engine.query(statement);
    await engine.close();
    reply({ kind: 'closed' });
    return;
  }
  const lock = task.kind === 'serve' ? new HeldLock(task.lock) : null;
  const files =
    task.kind === 'serve' && lock !== null
      ? new DurableFiles(task.directory, () => lock.assertHeld(), fail)
      : null;
  const engine = await PGlite.create(
    files === null
      ? { startParams, onStderr, extensions, ...(await archiveOf(task)) }
      : { fs: files, startParams: durableStartParams, onStderr, extensions },
  ).catch(failToOpen);
  if (files?.syncs === 0)
    throw new Error('The engine opened its files without an fsync: it could lose data.');
  guardEngine(engine, () => lock?.assertLease(), fail);
  const server = new PGLiteSocketServer({ db: engine, path: task.socket, maxConnections: 16 });
  await server.start();
  parentPort?.on('message', (request: Request) => {
    if (request === 'count-syncs') reply({ kind: 'syncs', count: files?.syncs ?? 0 });
    else close(engine, server).catch(fail);
  });
  reply({ kind: 'ready' });
}

async function archiveOf(task: Task): Promise<{ loadDataDir?: Blob }> {
  if (task.kind !== 'serve-memory' || task.archive === null) return {};
  return { loadDataDir: new Blob([await readFile(task.archive)]) };
}

async function close(engine: PGlite, server: PGLiteSocketServer): Promise<void> {
  await server.stop();
  await engine.close();
  reply({ kind: 'closed' });
  parentPort?.close();
}

const task: Task = workerData;
run(task).catch(fail);
