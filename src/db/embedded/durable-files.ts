import { fsyncSync } from 'node:fs';
import { type PGlite, PGlite as PGliteClass } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

type EngineOptions = Parameters<NodeFS['init']>[1];

/** PGlite's own parameters with fsync on, by the one method its file system can carry out (design §3). */
export const durableStartParams = [
  ...PGliteClass.defaultStartParams.filter((parameter) => parameter !== '-F'),
  '-c',
  'wal_sync_method=fsync',
];

/**
 * PGlite on a directory, with fsync. PGlite's own file system ignores fsync, so that a power cut could lose
 * acknowledged commits or ruin the database.
 */
export class DurableFiles extends NodeFS {
  /** How many times the engine has asked for an fsync and got it. */
  syncs = 0;
  readonly #onFailure: (error: unknown) => void;

  /** @param onFailure called when the disk fails to sync: what is on it is then unknown, so the engine must stop */
  constructor(directory: string, onFailure: (error: unknown) => void) {
    super(directory);
    this.#onFailure = onFailure;
  }

  override async init(engine: PGlite, options: EngineOptions): ReturnType<NodeFS['init']> {
    const amended = await super.init(engine, options);
    const preRun = amended.emscriptenOpts.preRun ?? [];
    const install = (module: unknown) => {
      streamOperations(module).fsync = (stream) => this.#sync(stream.nfd);
    };
    return { emscriptenOpts: { ...amended.emscriptenOpts, preRun: [...preRun, install] } };
  }

  #sync(descriptor: number): void {
    try {
      fsyncSync(descriptor);
      this.syncs += 1;
    } catch (error) {
      this.#onFailure(error);
      throw error;
    }
  }
}

interface StreamOperations {
  fsync?: (stream: { readonly nfd: number }) => void;
}

function streamOperations(module: unknown): StreamOperations {
  const operations = property(property(module, 'NODEFS'), 'stream_ops');
  if (typeof operations === 'object' && operations !== null) return operations;
  throw new Error('This PGlite has no NODEFS.stream_ops: it cannot be made durable.');
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
