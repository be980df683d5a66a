import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestLog } from './request-log.ts';
import type { RequestMetrics } from './request-metrics.ts';
import type { RequestNotes } from './request-notes.ts';

/** Follows a request from its head to the end of its answer, whichever transport answers it. */
export type RequestObserver = (
  notes: RequestNotes,
  exchange: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse },
) => void;

/** What a connection had carried when its last request ended. */
interface Carried {
  bytesIn: number;
  bytesOut: number;
}

/** @returns what is called at a request's head, and looks at its notes when the answer has ended */
export function createRequestObserver(metrics: RequestMetrics, log: RequestLog): RequestObserver {
  const carriedBy = new WeakMap<Socket, Carried>();

  /** What a connection has carried since it was last asked for. */
  function carriedSince(socket: Socket): Carried {
    const { bytesRead, bytesWritten } = socket;
    const before = carriedBy.get(socket) ?? { bytesIn: 0, bytesOut: 0 };
    carriedBy.set(socket, { bytesIn: bytesRead, bytesOut: bytesWritten });
    return { bytesIn: bytesRead - before.bytesIn, bytesOut: bytesWritten - before.bytesOut };
  }

  return (notes, { incoming, outgoing }) => {
    const beganAt = performance.now();
    // The answer lets go of its connection when it ends.
    const { socket } = incoming;
    metrics.begin();
    outgoing.once('close', () => {
      const seconds = (performance.now() - beganAt) / 1000;
      const status = outgoing.headersSent ? outgoing.statusCode : null;
      metrics.end(notes, status, seconds);
      if (!log.isOn) return;
      log.write(notes, { status, aborted: !outgoing.writableFinished, seconds, ...carriedSince(socket) });
    });
  };
}
