import { constants, fstatSync, openSync } from 'node:fs';
import sonicBoom, { type SonicBoom } from 'sonic-boom';

/**
 * A buffered log destination that writes off the event loop. `flush` calls back when nothing more can be written now. It has
 * no `flushSync`, which pino would call for fatal lines: that overtakes a write on another thread.
 */
export type LogOutput = Pick<SonicBoom, 'write' | 'flush'>;

/** A reader that reads nothing for this long does not delay the exit of the process, in milliseconds. */
const maxBlockedMilliseconds = 1_000;

let dropped = 0;

/** Number of lines dropped since the process started, because the log's reader was too slow. */
export const droppedLogLines = (): number => dropped;

/**
 * Writes to standard output in few, large writes. On exit it writes the rest, unless the reader blocks. Without a reader,
 * on a full disk and while the reader blocks, lines stay in the buffer, and each further line and flush tries again.
 */
export function createLogOutput(): LogOutput {
  let isExiting = false;
  let unwritten = 0;
  let stuckSince = 0;

  /** Whether to wait for a reader that blocks: only on exit, and only while it reads something. */
  function waitsForReader(_error: Error, pieceLength: number, otherLength: number): boolean {
    if (!isExiting) return false;
    if (pieceLength + otherLength !== unwritten) stuckSince = performance.now();
    unwritten = pieceLength + otherLength;
    return performance.now() - stuckSince < maxBlockedMilliseconds;
  }

  const output = new sonicBoom.SonicBoom({
    fd: openStandardOutput(),
    // Workers share the pipe. Larger writes than this (PIPE_BUF on Linux) are not atomic, and could interleave their lines.
    maxWrite: 4_096,
    minLength: 3_072,
    periodicFlush: 100,
    // Further lines are dropped, so that the service keeps running.
    maxLength: 8 * 1024 * 1024,
    retryEAGAIN: waitsForReader,
  });
  output.on('drop', () => {
    dropped += 1;
  });
  output.on('error', () => undefined);
  process.on('exit', () => {
    isExiting = true;
    // Another thread may be writing the lines before these. Its result never arrives, so it only gets some time.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    try {
      output.flushSync();
    } catch {
      // The lines cannot be written, and there is no other place to say so.
    }
  });
  return { write: (line) => output.write(line), flush: (then) => output.flush(then) };
}

/**
 * Opens standard output in non-blocking mode. A blocking pipe without a reader would block a thread, and with it the exit
 * of the process. Pipes are reopened, because O_NONBLOCK belongs to the open file description, which is shared between
 * processes, and Node.js changes it as child processes start and end.
 */
function openStandardOutput(): number {
  const kind = fstatSync(1);
  if (!kind.isFIFO() && !kind.isSocket()) return 1;
  if (kind.isFIFO()) {
    try {
      return openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK);
    } catch {
      // There is no /proc, or the pipe belongs to another user.
    }
  }
  // Creating the stream makes Node.js set the descriptor to non-blocking mode; the stream itself is not used.
  process.stdout.on('error', () => undefined);
  return 1;
}
