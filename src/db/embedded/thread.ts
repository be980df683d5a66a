import type { Worker } from 'node:worker_threads';
import type { Reply, Request, Task } from './messages.ts';
import { spawnThread } from './spawn.ts';

/** PostgreSQL could not open its files. The message is PostgreSQL's. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
}

/** A running database thread. */
export interface DatabaseThread {
  /** The number of fsyncs since the engine was opened. */
  countSyncs(): Promise<number>;
  /** Writes a checkpoint and ends the thread. */
  close(): Promise<void>;
}

/**
 * Starts a thread that serves a database on a Unix socket, and waits until it is ready.
 * @param onFatal called once if the thread dies after the start. Its connections break at the same moment
 */
export async function startThread(
  task: Exclude<Task, { kind: 'create' }>,
  onFatal: (error: Error) => void,
): Promise<DatabaseThread> {
  const worker = spawnThread('worker', task);
  const death = deathOf(worker);
  await answer(worker, 'ready', death);
  let state: 'open' | 'closing' | 'dead' = 'open';
  death.catch((error: Error) => {
    if (state === 'closing') return;
    state = 'dead';
    onFatal(error);
  });
  const ask = <Kind extends Reply['kind']>(request: Request, kind: Kind) => {
    const answered = answer(worker, kind, death);
    worker.postMessage(request);
    return answered;
  };
  return {
    countSyncs: async () => (await ask('count-syncs', 'syncs')).count,
    close: async () => {
      if (state === 'dead') return;
      state = 'closing';
      await ask('close', 'closed');
      await worker.terminate();
    },
  };
}

/** Creates an empty database in an empty directory, in a separate thread: initdb takes seconds and a lot of memory. */
export async function createInThread(directory: string): Promise<void> {
  const worker = spawnThread('worker', { kind: 'create', directory } satisfies Task);
  await answer(worker, 'closed', deathOf(worker));
  await worker.terminate();
}

/** Rejects when the thread fails or ends. */
function deathOf(worker: Worker): Promise<never> {
  const death = new Promise<never>((_, reject) => {
    worker.on('message', (message: Reply) => {
      if (message.kind !== 'failed') return;
      reject(message.byEngine ? new EngineError(message.message) : new Error(message.message));
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`The database's thread ended with code ${code}.`)));
  });
  death.catch(() => undefined);
  return death;
}

function answer<Kind extends Reply['kind']>(
  worker: Worker,
  kind: Kind,
  death: Promise<never>,
): Promise<Extract<Reply, { kind: Kind }>> {
  const answered = new Promise<Extract<Reply, { kind: Kind }>>((resolve) => {
    const listen = (message: Reply) => {
      if (!isOf(message, kind)) return;
      worker.off('message', listen);
      resolve(message);
    };
    worker.on('message', listen);
  });
  return Promise.race([answered, death]);
}

function isOf<Kind extends Reply['kind']>(
  message: Reply,
  kind: Kind,
): message is Extract<Reply, { kind: Kind }> {
  return message.kind === kind;
}
