import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';

/** Where a log's lines go: gathered, and written beside the event loop. */
export interface LogOutput {
  write(line: string): void;
  /** Calls back when all that was written before is with the system, or cannot be. */
  flush(then: () => void): void;
}

/** A line waits no longer than this, in milliseconds; and so often a reader that takes nothing now is asked again. */
const longestWait = 100;
/**
 * What a pipe takes whole (POSIX, PIPE_BUF on Linux): workers write to the same one, and lines in larger pieces could be
 * torn apart by each other's.
 */
const largestWrite = 4_096;
const smallestWrite = 3_072;
/** Of a reader that has stopped reading, so many bytes are waited for; then lines are dropped, not the service. */
const mostWaiting = 8 * 1024 * 1024;
/** A reader that has taken nothing for so long holds no end of a process up, in milliseconds. */
const longestBusy = 1_000;

let dropped = 0;

/** Lines that nobody took in time, since the process began. */
export const droppedLogLines = (): number => dropped;

interface Piece {
  text: string;
  bytes: number;
  lines: number;
}

/** Standard output, in few writes. What is left when the process ends is written then, if its reader takes it. */
export function createLogOutput(fileDescriptor = openStandardOutput()): LogOutput {
  const pieces: Piece[] = [];
  /** What is left of the piece that is being written. */
  let rest: Buffer = Buffer.alloc(0);
  let waiting = 0;
  let isWriting = false;
  let isArmed = false;
  /** Since when the reader has taken nothing, in the process's own time. */
  let busySince: number | null = null;
  let onFlushed: (() => void)[] = [];

  function arm(): void {
    if (isArmed) return;
    isArmed = true;
    setTimeout(() => {
      isArmed = false;
      writeOn();
      if (waiting > 0) arm();
    }, longestWait).unref();
  }

  function take(): boolean {
    if (rest.length === 0) rest = Buffer.from(pieces.shift()?.text ?? '');
    return rest.length > 0;
  }

  function isStuck(): boolean {
    busySince ??= performance.now();
    return performance.now() - busySince > longestBusy;
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
        if (rest.length > 0 || onFlushed.length > 0 || waiting >= smallestWrite) writeOn();
        return;
      }
      // A disk that is full ends no service: it is tried again, as is a reader that takes nothing now. One that has gone
      // comes back, if at all, for what is new.
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
    const told = onFlushed;
    onFlushed = [];
    for (const then of told) then();
  }

  process.on('exit', () => {
    // What a thread is writing at this moment it may have written.
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
      if (waiting + bytes > mostWaiting) {
        dropped += 1;
        return;
      }
      waiting += bytes;
      const last = pieces.at(-1);
      if (last === undefined || last.bytes + bytes > largestWrite) {
        pieces.push({ text: line, bytes, lines: 1 });
      } else {
        last.text += line;
        last.bytes += bytes;
        last.lines += 1;
      }
      if (waiting >= smallestWrite) writeOn();
      arm();
    },
    flush: (then) => {
      onFlushed.push(then);
      writeOn();
    },
  };
}

/**
 * Standard output as a file that says when it is full. A pipe that makes its writer wait holds up a thread, and with it
 * the process's end, for as long as nobody reads. A pipe is opened anew: how it is written to is shared by all who have
 * the same one open, and Node.js changes that as child processes start and end.
 */
function openStandardOutput(): number {
  const kind = fstatSync(1);
  if (!kind.isFIFO() && !kind.isSocket()) return 1;
  if (kind.isFIFO()) {
    try {
      return openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK);
    } catch {
      // No such files here, or another user's pipe.
    }
  }
  // As a stream, which is not written to: Node.js then has it say when it is full.
  process.stdout.on('error', () => undefined);
  return 1;
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY');

/** Gives a reader time, where there is no event loop any more. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
}
