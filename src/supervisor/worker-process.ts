import { fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessMetrics } from '../telemetry/workers-page.ts';
import { type ToWorker, toSupervisor, workerArgument } from './messages.ts';

/** How long to wait for a worker's last messages after its exit, in milliseconds. */
const lastMessagesWithin = 200;

/** Timeout of a worker's metrics, in milliseconds, so that a stuck worker does not block the metrics page. */
const metricsWithin = 1_000;

/** How a worker ended. */
export interface WorkerEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Its message if it could not start. */
  readonly failure: string | null;
  /** Connections that it was sent but did not take. Nothing was read from them, so another worker can serve them. */
  readonly untaken: readonly Socket[];
  /** Milliseconds since it was ready; null if it never was. */
  readonly servedMilliseconds: number | null;
}

/** A worker as the supervisor sees it. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  /** Whether it accepts connections. */
  readonly isReady: boolean;
  /** The number of connections that it was sent and has not taken yet. It grows while the worker is busy or stuck. */
  readonly untaken: number;
  hand(connection: Socket): void;
  /** Requests its metrics; null if it does not answer in time, or is not ready. */
  metrics(): Promise<ProcessMetrics | null>;
  /** Starts its graceful shutdown. It still serves all connections sent before; a worker that was not ready is killed. */
  stop(): void;
  /** Kills it. */
  kill(): void;
}

export interface WorkerListener {
  ready(): void;
  ended(end: WorkerEnd): void;
}

/** Starts this program in another process, as the worker with this number. */
export function startWorker(number: number, listener: WorkerListener): WorkerProcess {
  const child = fork(process.argv[1] ?? '', [workerArgument, String(number)]);
  const untaken: Socket[] = [];
  let state: 'starting' | 'ready' | 'stopping' = 'starting';
  const asked = new Map<number, (metrics: ProcessMetrics | null) => void>();
  let questions = 0;
  let readyAt: number | undefined;
  let failure: string | null = null;

  // A closed channel is not an error here: the worker's exit follows and is handled.
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
      // Closes this process's handle only. The worker has its own handle to the connection.
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
  // The last messages may arrive after the exit, followed by the end of the channel. Node.js does not always notice that
  // end if the worker died while a connection was being sent to it.
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
