import { fsyncSync } from 'node:fs';
import { type PGlite, PGlite as PGliteClass } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { mendFileSystem, type Operation, operationsOf } from './mend-file-system.ts';

type EngineOptions = Parameters<NodeFS['init']>[1];

/**
 * PGlite's own parameters with less memory for pages. It takes 160 MB and fills them with zeros at the start; most
 * databases fit into less, and what does not is read from the operating system's cache.
 */
export const startParams = [...PGliteClass.defaultStartParams, '-c', 'shared_buffers=32MB'];

/** The same with fsync on, by the one method that PGlite's file system can carry out (design §3). */
export const durableStartParams = [
  ...startParams.filter((parameter) => parameter !== '-F'),
  '-c',
  'wal_sync_method=fsync',
];

/** What changes files, by the tables of Emscripten's NODEFS. Its `msync` writes by `write`, and files open unchanged. */
const changes = {
  node_ops: ['setattr', 'mknod', 'rename', 'unlink', 'rmdir', 'symlink'],
  stream_ops: ['setattr', 'write'],
} as const;

/**
 * PGlite on a directory, with fsync, and for one process. PGlite's own file system ignores fsync, so that a power cut
 * could lose acknowledged commits or ruin the database; and it does not survive operations that a disk rejects
 * (mend-file-system.ts).
 */
export class DurableFiles extends NodeFS {
  /** How many times the engine has asked for an fsync and got it. */
  syncs = 0;
  readonly #assertHeld: () => void;
  readonly #onFailure: (error: unknown) => void;

  /**
   * @param assertHeld throws when these files are no longer this process's to change: asked before each change, and
   *   after each fsync, behind which a commit is acknowledged
   * @param onFailure called when it throws, and when the disk fails to sync: what is on it is then unknown. The engine
   *   must stop
   */
  constructor(directory: string, assertHeld: () => void, onFailure: (error: unknown) => void) {
    super(directory);
    this.#assertHeld = assertHeld;
    this.#onFailure = onFailure;
  }

  override async init(engine: PGlite, options: EngineOptions): ReturnType<NodeFS['init']> {
    const amended = await super.init(engine, options);
    const preRun = amended.emscriptenOpts.preRun ?? [];
    const install = (module: unknown) => {
      mendFileSystem(module);
      for (const table of ['node_ops', 'stream_ops'] as const) {
        const operations = operationsOf(module, 'NODEFS', table);
        for (const name of changes[table]) operations[name] = this.#guarded(operations[name], name);
      }
      operationsOf(module, 'NODEFS', 'stream_ops').fsync = (stream: Stream) => this.#sync(stream.nfd);
    };
    return { emscriptenOpts: { ...amended.emscriptenOpts, preRun: [...preRun, install] } };
  }

  #guarded(change: unknown, name: string): Operation {
    if (typeof change !== 'function') {
      throw new Error(`This PGlite's NODEFS has no ${name}: its files cannot be guarded.`);
    }
    return (...values) => {
      this.#orFail(this.#assertHeld);
      return Reflect.apply(change, undefined, values);
    };
  }

  #sync(descriptor: number): void {
    this.#orFail(() => {
      fsyncSync(descriptor);
      this.#assertHeld();
    });
    this.syncs += 1;
  }

  #orFail(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#onFailure(error);
      throw error;
    }
  }
}

interface Stream {
  readonly nfd: number;
}
