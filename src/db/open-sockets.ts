import { Socket } from 'node:net';

/**
 * The database stopped answering: its connections were cut, and new ones are refused until it answers again. Statements
 * that were running may have been executed.
 */
export class DatabaseAwayError extends Error {
  override readonly name = 'DatabaseAwayError';
  /** The operating system's code for a connection that this side has ended. */
  readonly code = 'ECONNABORTED';
}

/** The sockets of a connection pool. All of them can be cut at once, and new ones refused. */
export interface OpenSockets {
  /** Creates a socket, for the option `stream` of pg. */
  open(): Socket;
  /** Cuts all open sockets, and each new one until `admit`. */
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
      // pg adds its listeners to the socket in the same turn of the event loop.
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
