import { fsyncSync } from 'node:fs';
import { type PGlite, PGlite as PGliteClass } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { mendFileSystem, type Operation, operationsOf } from './mend-file-system.ts';

type EngineOptions = Parameters<NodeFS['init']>[1];

/**
 * PGlite's default parameters with a smaller buffer cache. PGlite reserves 160 MB and zeroes it at the start; most
 * databases need less, and the operating system caches the other pages.
 */
export const startParams = [...PGliteClass.defaultStartParams, '-c', 'shared_buffers=32MB'];

/** The same parameters with fsync on, by the only method that PGlite's file system supports (design §3). */
export const durableStartParams = [
  ...startParams.filter((parameter) => parameter !== '-F'),
  '-c',
  'wal_sync_method=fsync',
];

/** The operations of Emscripten's NODEFS that change files. Its `msync` uses `write`, and opening a file changes nothing. */
const changes = {
  node_ops: ['setattr', 'mknod', 'rename', 'unlink', 'rmdir', 'symlink'],
  stream_ops: ['setattr', 'write'],
} as const;

/**
 * A PGlite file system on a directory, with fsync, for one process. PGlite's own file system ignores fsync, so a power
 * loss could lose acknowledged commits or corrupt the database; and it does not survive operations that the disk rejects
 * (mend-file-system.ts).
 */
export class DurableFiles extends NodeFS {
  /** The number of successful fsyncs. */
  syncs = 0;
  readonly #assertHeld: () => void;
  readonly #onFailure: (error: unknown) => void;

  /**
   * @param assertHeld throws when this process may no longer change the files. Called before each change, and after each
   *   fsync, because a commit is acknowledged after its fsync
   * @param onFailure called when `assertHeld` throws, or when an fsync fails: the state of the disk is then unknown, and
   *   the engine must stop
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
