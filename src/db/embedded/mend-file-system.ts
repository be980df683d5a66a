/*
 * Fixes faults of Emscripten's file system on Node.js (NODEFS, which PGlite uses). They occur when the operating system
 * rejects a call: no space, no inode, a read-only disk, or no descriptor left in the process.
 *
 * 1. `mknod` adds a name to its tree before it creates the file. If that fails, the name stays: every later attempt to
 *    create the file fails with "File exists" until the process ends.
 * 2. `open` creates a file and then opens it with a second call. If the second call fails, the file stays, and so does the
 *    stream number, of which there are 4,096.
 * 3. An error code that its table lacks, such as EUCLEAN of a damaged file system, becomes `undefined`, which the engine
 *    reads as 0: success.
 */

export type Operation = (...values: never[]) => unknown;
type Operations = Record<string, Operation | undefined>;

/** An entry in the tree of names. */
interface Node {
  readonly parent: unknown;
  readonly name: string;
}
interface Stream {
  readonly node: Node;
  readonly fd: number;
}

/** Patches the engine's file system in place, before it is mounted. */
export function mendFileSystem(module: unknown): void {
  const names = operationsOf(module, 'FS');
  const nodes = operationsOf(module, 'NODEFS', 'node_ops');
  const streams = operationsOf(module, 'NODEFS', 'stream_ops');
  const [mknod, open] = [required(nodes, 'mknod'), required(streams, 'open')];
  const forget = (...parentAndName: readonly unknown[]): void => {
    try {
      call(required(names, 'destroyNode'), call(required(names, 'lookupNode'), ...parentAndName));
    } catch {
      // The file is neither in the tree nor on the disk.
    }
  };
  /** The file that the last `mknod` created, until it is opened. */
  let made: unknown = null;

  nodes.mknod = (...[parent, name, ...rest]: readonly unknown[]) => {
    made = null;
    try {
      made = call(mknod, parent, name, ...rest);
      return made;
    } catch (error) {
      forget(parent, name);
      throw error;
    }
  };
  streams.open = (stream: Stream) => {
    const isNew = stream.node === made;
    made = null;
    try {
      return call(open, stream);
    } catch (error) {
      call(required(names, 'closeStream'), stream.fd);
      if (isNew) remove(stream.node);
      throw error;
    }
  };
  function remove({ parent, name }: Node): void {
    try {
      call(required(nodes, 'unlink'), parent, name);
      forget(parent, name);
    } catch {
      // The disk refuses to delete the file, so it stays on the disk and in the tree.
    }
  }

  const nodefs = operationsOf(module, 'NODEFS');
  const convert = required(nodefs, 'convertNodeCode');
  nodefs.convertNodeCode = (error: { readonly code: string }) =>
    // PostgreSQL has no code for an exhausted quota, and reports an internal error.
    call(convert, error.code === 'EDQUOT' ? { code: 'ENOSPC' } : error) ?? call(convert, { code: 'EIO' });
}

const call = (operation: Operation, ...values: readonly unknown[]): unknown =>
  Reflect.apply(operation, undefined, values);

/** @throws {Error} when this PGlite differs from the pinned version */
function required(operations: Operations, name: string): Operation {
  const operation = operations[name];
  if (typeof operation === 'function') return operation;
  throw new Error(`This PGlite's file system has no ${name}: it cannot be guarded.`);
}

/**
 * One of the engine's tables of functions.
 * @throws {Error} when this PGlite differs from the pinned version
 */
export function operationsOf(module: unknown, ...path: readonly string[]): Operations {
  const operations = path.reduce(property, module);
  if (isTable(operations)) return operations;
  throw new Error(`This PGlite has no ${path.join('.')}: it cannot be made durable.`);
}

const isTable = (value: unknown): value is Operations => typeof value === 'object' && value !== null;

const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
