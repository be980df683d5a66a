import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

export interface DrainOptions {
  /**
   * How long a connection without a request is kept open, in milliseconds: a request that its client has sent before
   * it could know is answered, instead of meeting a closed connection.
   */
  readonly idleGraceMilliseconds?: number;
  /** How long requests under way may take, in milliseconds. Then their connections are cut. */
  readonly patienceMilliseconds?: number;
}

const closeIdleEvery = 50;

/**
 * Prepares a server for an end without loss, whether it accepts its connections itself or is handed them.
 * @returns what ends it: it stops accepting, answers every request with `Connection: close` (RFC 9112 §9.6), closes
 *   connections as they become idle, and cuts what is left when patience ends, such as a half-sent request. It
 *   resolves when no connection is left.
 */
export function createDrain(server: Server, options: DrainOptions = {}): () => Promise<void> {
  const { idleGraceMilliseconds = 500, patienceMilliseconds = 5_000 } = options;
  const unanswered = new Set<ServerResponse>();
  const connections = new Set<Socket>();
  let draining = false;
  let onNoneLeft = (): void => {};
  server.prependListener('connection', (connection: Socket) => {
    connections.add(connection);
    connection.once('close', () => {
      connections.delete(connection);
      if (connections.size === 0) onNoneLeft();
    });
  });
  // Before the application's own listener, which may answer at once.
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
    // Of a response whose head is sent this changes nothing; its connection is closed when it is idle.
    for (const response of unanswered) response.shouldKeepAlive = false;
    let closeIdle: NodeJS.Timeout | undefined;
    const grace = setTimeout(
      () => {
        closeIdle = setInterval(() => server.closeIdleConnections(), closeIdleEvery);
      },
      Math.min(idleGraceMilliseconds, patienceMilliseconds / 2),
    );
    const patience = setTimeout(() => server.closeAllConnections(), patienceMilliseconds);
    // Not the HTTP server's own `close`, which cuts idle connections at once: a request may be on its way there.
    await new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
    // A server that never listened is closed at once, and does not wait for what it was handed.
    if (connections.size > 0) {
      await new Promise<void>((resolve) => {
        onNoneLeft = resolve;
      });
    }
    clearTimeout(grace);
    clearInterval(closeIdle);
    clearTimeout(patience);
    // What is left of it: the timer that watches over slow connections.
    server.close();
  };
}
