import { createWriteStream, fstatSync } from 'node:fs';
import { Writable } from 'node:stream';
import type { Output } from '../terminal.ts';

/**
 * A stream to standard output that finishes only when every byte has been written, and leaves standard output open.
 * Node.js's own stream for a file treats a partial write as a complete one, and a full disk writes the last chunk
 * partially.
 */
export function createOutputStream(stdout: Output): Writable {
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

/** Whether this is a file or a device. The event loop waits for pipes and sockets better than a thread of the pool. */
function isWrittenDirectly(descriptor: number): boolean {
  const stats = fstatSync(descriptor);
  return !stats.isFIFO() && !stats.isSocket();
}
