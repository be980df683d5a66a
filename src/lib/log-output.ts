import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';

/** A buffered log destination that writes off the event loop. */
export interface LogOutput {
  write(line: string): void;
  /** Calls back when all earlier lines have been written, or cannot be. */
  flush(then: () => void): void;
}

/** Maximum time a line is buffered, and the interval for retrying a blocked write, in milliseconds. */
const flushIntervalMilliseconds = 100;
/**
 * Size of an atomic write to a pipe (PIPE_BUF on Linux). Workers share the pipe, so larger writes could interleave their
 * lines.
 */
const maxWriteBytes = 4_096;
const minWriteBytes = 3_072;
/** Buffer limit while the reader has stopped reading; further lines are dropped, so that the service keeps running. */
const maxBufferedBytes = 8 * 1024 * 1024;
/** A reader that reads nothing for this long does not delay the exit of the process, in milliseconds. */
const maxBlockedMilliseconds = 1_000;

let dropped = 0;

/** Number of lines dropped since the process started, because the log's reader was too slow. */
export const droppedLogLines = (): number => dropped;

interface Piece {
  text: string;
  bytes: number;
  lines: number;
}

/** Writes to standard output in few, large writes. On exit it writes the rest, unless the reader blocks. */
export function createLogOutput(fileDescriptor = openStandardOutput()): LogOutput {
  const pieces: Piece[] = [];
  /** The rest of the piece being written. */
  let rest: Buffer = Buffer.alloc(0);
  let waiting = 0;
  let isWriting = false;
  let isArmed = false;
  /** Monotonic time since which the reader has read nothing. */
  let busySince: number | null = null;
  let onFlushed: (() => void)[] = [];

  function arm(): void {
    if (isArmed) return;
    isArmed = true;
    setTimeout(() => {
      isArmed = false;
      writeOn();
      if (waiting > 0) arm();
    }, flushIntervalMilliseconds).unref();
  }

  function take(): boolean {
    if (rest.length === 0) rest = Buffer.from(pieces.shift()?.text ?? '');
    return rest.length > 0;
  }

  function isStuck(): boolean {
    busySince ??= performance.now();
    return performance.now() - busySince > maxBlockedMilliseconds;
  }

  function written(bytes: number): void {
    busySince = null;
    waiting -= bytes;
    rest = rest.subarray(bytes);
  }

  function writeOn(): void {
    if (isWriting) return;
    if (!take()) {
      finishFlush();
      return;
    }
    isWriting = true;
    write(fileDescriptor, rest, (error, bytes) => {
      isWriting = false;
      if (error === null) {
        written(bytes);
        if (rest.length > 0 || onFlushed.length > 0 || waiting >= minWriteBytes) writeOn();
        return;
      }
      // A full disk or a blocked reader must not stop the service: the write is retried. If the reader is gone (EPIPE),
      // the buffer is dropped; a new reader gets only new lines.
      if (error.code === 'EPIPE') forget();
      if (!isBusy(error) || isStuck()) finishFlush();
      arm();
    });
  }

  function forget(): void {
    dropped += pieces.reduce((sum, { lines }) => sum + lines, 0);
    pieces.length = 0;
    rest = Buffer.alloc(0);
    waiting = 0;
  }

  function finishFlush(): void {
    const callbacks = onFlushed;
    onFlushed = [];
    for (const callback of callbacks) callback();
  }

  process.on('exit', () => {
    // A write in progress on another thread may already have completed, so its data is not written again.
    if (isWriting) rest = Buffer.alloc(0);
    while (take()) {
      try {
        written(writeSync(fileDescriptor, rest));
      } catch (error) {
        if (!isBusy(error) || isStuck()) return;
        pause();
      }
    }
  });

  return {
    write: (line) => {
      const bytes = Buffer.byteLength(line);
      if (waiting + bytes > maxBufferedBytes) {
        dropped += 1;
        return;
      }
      waiting += bytes;
      const last = pieces.at(-1);
      if (last === undefined || last.bytes + bytes > maxWriteBytes) {
        pieces.push({ text: line, bytes, lines: 1 });
      } else {
        last.text += line;
        last.bytes += bytes;
        last.lines += 1;
      }
      if (waiting >= minWriteBytes) writeOn();
      arm();
    },
    flush: (then) => {
      onFlushed.push(then);
      writeOn();
    },
  };
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

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY');

/** Waits for the reader synchronously; during exit there is no event loop. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
}
