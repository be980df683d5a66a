import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { z } from 'zod';

/** A TCP relay to a server that can simulate its loss: it cuts and refuses connections, or holds them without an answer. */
export interface Relay {
  readonly port: number;
  /** The URL of the server, with the relay's address. */
  readonly url: string;
  /** Cuts every connection, and each new one at once. */
  cut(): void;
  /** Pauses without closing connections: data that arrives during the pause is forwarded after it. */
  pause(): void;
  /** Accepts new connections and resumes paused ones. */
  restore(): void;
  /** Cuts every connection and relays new ones to another server. */
  aim(target: string): void;
  close(): Promise<void>;
}

const address = z.object({ port: z.number() });
const portOf = (url: URL): number => Number(url.port || { 'redis:': 6379 }[url.protocol] || 5432);

export async function startRelay(target: string): Promise<Relay> {
  let aim = new URL(target);
  const sockets = new Set<Socket>();
  let state: 'open' | 'cut' | 'paused' = 'open';
  const server = createServer((inside) => {
    if (state === 'cut') return void inside.destroy();
    const outside = connect(portOf(aim), aim.hostname);
    for (const [one, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.on('data', (chunk) => other.write(chunk));
      if (state === 'paused') one.pause();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = address.parse(server.address());
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  const cut = () => {
    state = 'cut';
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    url: url.href,
    cut,
    pause: () => {
      state = 'paused';
      for (const socket of sockets) socket.pause();
    },
    restore: () => {
      state = 'open';
      for (const socket of sockets) socket.resume();
    },
    aim: (next) => {
      cut();
      aim = new URL(next);
      state = 'open';
    },
    close: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
