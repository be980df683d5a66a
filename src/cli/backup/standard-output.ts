import { createWriteStream, fstatSync } from 'node:fs';
import { Writable } from 'node:stream';
import type { Output } from '../terminal.ts';

/**
 * Standard output as a stream that has finished when all of it has been taken, and not before; what it writes to stays
 * open. Node.js's own stream for a file takes a part of a chunk for all of it: and a part is what a disk that fills
 * takes of the last one.
 */
export function wholeOutput(stdout: Output): Writable {
  const descriptor = descriptorOf(stdout);
  if (descriptor !== null && isWrittenDirectly(descriptor)) {
    return createWriteStream('', { fd: descriptor, autoClose: false });
  }
  return new Writable({
    write: (chunk, encoding, done) => {
      stdout.write(chunk, encoding, done);
    },
  });
}

const descriptorOf = (stdout: Output): number | null =>
  'fd' in stdout && typeof stdout.fd === 'number' ? stdout.fd : null;

/** A file or a device: what is no file is better waited for by the event loop than by a thread. */
function isWrittenDirectly(descriptor: number): boolean {
  const stats = fstatSync(descriptor);
  return !stats.isFIFO() && !stats.isSocket();
}
