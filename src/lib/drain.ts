import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';

export interface DrainOptions {
  /**
   * How long idle connections stay open, in milliseconds, so that requests already on their way are still served.
   * Default 500.
   */
  readonly idleGraceMilliseconds?: number;
  /** Timeout for requests in progress, in milliseconds; then their connections are closed. Default 5,000. */
  readonly timeoutMilliseconds?: number;
}

const closeIdleIntervalMilliseconds = 50;

/** A turn of the event loop that is shorter than this leaves hardly any time for a connection to arrive unnoticed. */
const shortTurnMilliseconds = 1;
/** A busy process may have no such turn, and its stop has other things to do. */
const longestWaitMilliseconds = 250;

/**
 * Waits until the event loop has accepted what was waiting. The kernel completes connections while the process is busy, and
 * resets those that were not accepted when the listener closes: a proxy may have sent a request on one of them already.
 */
export async function acceptWaiting(): Promise<void> {
  // The first turn may not have looked for connections.
  await setImmediate();
  const until = performance.now() + longestWaitMilliseconds;
  for (let begun = performance.now(); begun < until; ) {
    await setImmediate();
    const ended = performance.now();
    if (ended - begun < shortTurnMilliseconds) return;
    begun = ended;
  }
}

/**
 * Prepares a server for graceful shutdown, whether it accepts connections itself or receives them from a supervisor.
 * @returns a function that shuts the server down: it stops accepting, sends `Connection: close` (RFC 9112 §9.6), closes
 *   connections as they become idle, and closes the remaining ones after the timeout. Resolves when no connection is left.
 */
export function createDrain(server: Server, options: DrainOptions = {}): () => Promise<void> {
  const { idleGraceMilliseconds = 500, timeoutMilliseconds = 5_000 } = options;
  const unanswered = new Set<ServerResponse>();
  const connections = new Set<Socket>();
  let draining = false;
  server.prependListener('connection', (connection: Socket) => {
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
  });
  // Runs before the application's own listener, which may respond synchronously.
  server.prependListener('request', (_request, response) => {
    if (draining) {
      response.shouldKeepAlive = false;
      return;
    }
    unanswered.add(response);
    response.once('close', () => unanswered.delete(response));
  });

  return async () => {
    draining = true;
    // No effect on responses whose headers are already sent; their connections are closed when idle.
    for (const response of unanswered) response.shouldKeepAlive = false;
    const graceEndsAt = performance.now() + Math.min(idleGraceMilliseconds, timeoutMilliseconds / 2);
    const closeIdle = setInterval(() => {
      if (performance.now() >= graceEndsAt) server.closeIdleConnections();
    }, closeIdleIntervalMilliseconds);
    const timeout = setTimeout(() => server.closeAllConnections(), timeoutMilliseconds);
    await acceptWaiting();
    // Not the HTTP server's own `close`, which closes idle connections immediately: a request may be on its way.
    await new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
    // A server that never listened closes immediately, without waiting for connections it was handed.
    for (const connection of connections) await new Promise((resolve) => connection.once('close', resolve));
    clearInterval(closeIdle);
    clearTimeout(timeout);
    // Stops the HTTP server's timer that checks for slow connections.
    server.close();
  };
}
