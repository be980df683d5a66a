import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestLog } from './request-log.ts';
import type { RequestMetrics } from './request-metrics.ts';
import type { RequestNotes } from './request-notes.ts';

/** Observes a request until its response closes; used by every transport. */
export type RequestObserver = (
  notes: RequestNotes,
  exchange: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse },
) => void;

/** Bytes that a connection had transferred when its last request ended. */
interface Transferred {
  bytesIn: number;
  bytesOut: number;
}

/** @returns a function to call when a request starts; it records metrics and the log line when the response closes */
export function createRequestObserver(metrics: RequestMetrics, log: RequestLog): RequestObserver {
  const transferredBy = new WeakMap<Socket, Transferred>();

  /** Bytes transferred since the previous call for this connection. */
  function transferredSince(socket: Socket): Transferred {
    const { bytesRead, bytesWritten } = socket;
    const before = transferredBy.get(socket) ?? { bytesIn: 0, bytesOut: 0 };
    transferredBy.set(socket, { bytesIn: bytesRead, bytesOut: bytesWritten });
    return { bytesIn: bytesRead - before.bytesIn, bytesOut: bytesWritten - before.bytesOut };
  }

  return (notes, { incoming, outgoing }) => {
    const startedAt = performance.now();
    // Read now, because the response drops its reference to the socket when it ends.
    const { socket } = incoming;
    metrics.begin();
    outgoing.once('close', () => {
      const seconds = (performance.now() - startedAt) / 1000;
      const status = outgoing.headersSent ? outgoing.statusCode : null;
      metrics.end(notes, status, seconds);
      if (!log.isOn) return;
      log.write(notes, { status, aborted: !outgoing.writableFinished, seconds, ...transferredSince(socket) });
    });
  };
}
