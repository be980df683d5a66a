import { pino } from 'pino';

/** Where a log's lines go: gathered, and written beside the event loop. */
export interface LogOutput {
  write(line: string): void;
  /** Writes what has been gathered before it returns; for a process that is about to end. */
  flushSync(): void;
  /** Calls back when all that was written before is with the system, or cannot be. */
  flush(then: () => void): void;
}

/** A line waits no longer than this, in milliseconds. */
const longestWait = 100;
/**
 * What a pipe takes whole (POSIX, PIPE_BUF on Linux): workers write to the same one, and lines in larger pieces could be
 * torn apart by each other's.
 */
const largestWrite = 4_096;
const smallestWrite = 3_072;
/** Of a reader that has stopped reading, so many bytes are waited for; then lines are dropped, not the service. */
const mostWaiting = 8 * 1024 * 1024;

let dropped = 0;

/** Lines that nobody took in time, since the process began. */
export const droppedLogLines = (): number => dropped;

/** Standard output, in few writes. What is left when the process ends, pino writes. */
export function createLogOutput(fileDescriptor = 1): LogOutput {
  const destination = pino.destination({
    dest: fileDescriptor,
    sync: false,
    minLength: smallestWrite,
    maxWrite: largestWrite,
    maxLength: mostWaiting,
  });
  let waiting = 0;
  let isArmed = false;

  function arm(): void {
    if (isArmed) return;
    isArmed = true;
    setTimeout(() => {
      isArmed = false;
      destination.flush();
      if (waiting > 0) arm();
    }, longestWait).unref();
  }
  destination.on('write', (bytes) => {
    waiting -= bytes;
  });
  destination.on('drop', (line) => {
    dropped += 1;
    waiting -= Buffer.byteLength(line);
  });
  // A disk that is full ends no service: it is tried again with what comes next.
  destination.on('error', () => undefined);

  // As long as it gets on: it writes one piece at a time.
  const flush: LogOutput['flush'] = (then) => {
    const before = waiting;
    destination.flush(() => (waiting > 0 && waiting < before ? flush(then) : then()));
  };
  return {
    write: (line) => {
      waiting += Buffer.byteLength(line);
      destination.write(line);
      arm();
    },
    flushSync: () => {
      destination.flushSync();
      waiting = 0;
    },
    flush,
  };
}
