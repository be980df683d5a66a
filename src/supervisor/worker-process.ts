import { fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessMetrics } from '../telemetry/workers-page.ts';
import { type ToWorker, toSupervisor, workerArgument } from './messages.ts';

/** How long a worker's last messages may take after its exit, in milliseconds. */
const lastMessagesWithin = 200;

/** How long a worker may take to say what it knows of itself, in milliseconds: one that is stuck holds up no page. */
const metricsWithin = 1_000;

/** How a worker ended. */
export interface WorkerEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it said when it could not start. */
  readonly failure: string | null;
  /** What it was given and did not take: nothing was read from these, and another can serve them. */
  readonly untaken: readonly Socket[];
  /** From when it was ready, in milliseconds; null when it never was. */
  readonly servedMilliseconds: number | null;
}

/** A worker as the supervisor sees it. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  /** Whether it is to be given connections. */
  readonly isReady: boolean;
  /** How many connections it was given and has not taken yet: it is busy, or stuck. */
  readonly untaken: number;
  hand(connection: Socket): void;
  /** Asks what it knows of itself; null where it does not say so in time, or is not ready. */
  metrics(): Promise<ProcessMetrics | null>;
  /** Tells it to end in order. Whatever it was given before it serves; one that was not ready ends at once. */
  stop(): void;
  /** Ends it at once. */
  kill(): void;
}

export interface WorkerListener {
  ready(): void;
  ended(end: WorkerEnd): void;
}

/** Starts this program once more, as a worker with this number. */
export function startWorker(number: number, listener: WorkerListener): WorkerProcess {
  const child = fork(process.argv[1] ?? '', [workerArgument, String(number)]);
  const untaken: Socket[] = [];
  let state: 'starting' | 'ready' | 'stopping' = 'starting';
  const asked = new Map<number, (metrics: ProcessMetrics | null) => void>();
  let questions = 0;
  let readyAt: number | undefined;
  let failure: string | null = null;

  // A channel that is closed is no error of its own: the worker's end, which follows, is seen to.
  const send = (message: ToWorker, connection?: Socket): void =>
    void child.send(message, connection, { keepOpen: true }, () => {});
  const stop = (): void => {
    if (state === 'ready') send('stop');
    else if (state === 'starting') child.kill('SIGKILL');
    state = 'stopping';
  };

  child.on('message', (received) => {
    const message = toSupervisor.parse(received);
    if (message === 'ready') {
      if (state !== 'starting') return;
      readyAt = performance.now();
      state = 'ready';
      listener.ready();
    } else if (message === 'taken') {
      // Closes this process's hold on it, and not the connection, which the worker has.
      untaken.shift()?.destroy();
    } else if (message === 'leaving') {
      stop();
    } else if ('failed' in message) {
      failure = message.failed;
    } else {
      asked.get(message.metrics)?.(message.families);
    }
  });

  const end = (code: number | null, signal: NodeJS.Signals | null): void =>
    listener.ended({
      code,
      signal,
      failure,
      untaken: untaken.splice(0),
      servedMilliseconds: readyAt === undefined ? null : performance.now() - readyAt,
    });
  // The last messages may come after the exit, and the channel's end is behind them. Of a worker that died with a
  // connection on its way to it, Node.js does not always notice that end.
  child.once('exit', (code, signal) => {
    if (!child.connected) return end(code, signal);
    const overdue = setTimeout(() => child.disconnect(), lastMessagesWithin);
    child.once('disconnect', () => {
      clearTimeout(overdue);
      end(code, signal);
    });
  });
  child.on('error', (error) => {
    if (child.pid !== undefined) return;
    failure = `A worker could not be started: ${error.message}`;
    end(1, null);
  });

  return {
    pid: child.pid,
    get isReady() {
      return state === 'ready';
    },
    get untaken() {
      return untaken.length;
    },
    hand: (connection) => {
      untaken.push(connection);
      send('connection', connection);
    },
    metrics: async () => {
      if (state === 'starting' || !child.connected) return null;
      const number = questions++;
      const late = new AbortController();
      try {
        return await Promise.race([
          new Promise<ProcessMetrics | null>((resolve) => {
            asked.set(number, resolve);
            send({ metrics: number });
          }),
          sleep(metricsWithin, null, { signal: late.signal }).catch(() => null),
        ]);
      } finally {
        late.abort();
        asked.delete(number);
      }
    },
    stop,
    kill: () => void child.kill('SIGKILL'),
  };
}
