import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type HttpAnswer, type HttpRequest, parseAnswer } from './http-message.ts';

/**
 * A kept connection with one request under way at a time. On a bare socket: node:http would cost the driver as much
 * as a cheap answer costs the service, on the machine that both share.
 */
export interface Connection {
  /** @throws {Error} when the connection ends, or what comes is no answer */
  ask(request: HttpRequest): Promise<HttpAnswer>;
  close(): void;
}

interface Waiting {
  readonly resolve: (answer: HttpAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** Connects to a port of this machine. */
export async function openConnection(port: number): Promise<Connection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return connectionOf(socket);
}

function connectionOf(socket: Socket): Connection {
  let waiting: Waiting | undefined;
  let received: Buffer | undefined;

  const fail = (error: Error): void => {
    waiting?.reject(error);
    waiting = undefined;
    socket.destroy();
  };
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('The service closed a connection that was to be kept')));
  socket.on('data', (chunk) => {
    received = received === undefined ? chunk : Buffer.concat([received, chunk]);
    try {
      const answer = parseAnswer(received);
      if (answer === null) return;
      received = undefined;
      waiting?.resolve(answer);
      waiting = undefined;
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)));
    }
  });

  return {
    ask: ({ bytes }) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        if (socket.destroyed) fail(new Error('The service has closed the connection'));
        else socket.write(bytes);
      }),
    close: () => void socket.destroy(),
  };
}
