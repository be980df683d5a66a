import { Socket } from 'node:net';

/**
 * The database was found not to answer: its connections have been cut, and no new one is made until it does. What was
 * under way may have been carried out all the same.
 */
export class DatabaseAwayError extends Error {
  override readonly name = 'DatabaseAwayError';
  /** As the operating system's own word for a connection that this side has ended. */
  readonly code = 'ECONNABORTED';
}

/** The sockets of a pool of connections: all of them can be cut at once, and new ones refused. */
export interface OpenSockets {
  /** Makes one; for the option `stream` of pg. */
  open(): Socket;
  /** Cuts all that are open, and each new one, until `admit`. */
  refuse(reason: string): void;
  admit(): void;
}

export function createOpenSockets(): OpenSockets {
  const sockets = new Set<Socket>();
  let refusal: string | null = null;
  return {
    open() {
      const socket = new Socket();
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      const reason = refusal;
      // Whoever asks for a socket listens to it, and connects it, in the same turn.
      if (reason !== null) process.nextTick(() => socket.destroy(new DatabaseAwayError(reason)));
      return socket;
    },
    refuse(reason) {
      refusal = reason;
      for (const socket of sockets) socket.destroy(new DatabaseAwayError(reason));
    },
    admit() {
      refusal = null;
    },
  };
}
