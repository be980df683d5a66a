import { connect as connectTcp, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector } from 'ioredis';
import { type Host, serverNameOf } from './redis-address.ts';

/** How long a server may take to close a connection that is given up, in milliseconds. */
export const disconnectMilliseconds = 250;

/**
 * Creates the connector of an ioredis client that looks for its server at each connection, because a failover changes it.
 * A failed search is a failed connection: the client searches again after its `retryStrategy`.
 * @param find returns the server to use now
 * @param onReplica called when that server turns out to be a replica, before its connection is closed
 */
export function connectorTo(
  find: () => Promise<Host>,
  tls: boolean,
  onReplica: () => void,
): new () => AbstractConnector {
  return class extends AbstractConnector {
    constructor() {
      super(disconnectMilliseconds);
    }

    /** The sentinel or node that named the server may not know yet that it became a replica. Without permission for INFO, there is no role. */
    override check(info: { readonly role?: string }): boolean {
      if (info.role !== 'slave') return true;
      onReplica();
      return false;
    }

    override async connect(): Promise<Socket> {
      this.connecting = true;
      let stream: Socket;
      try {
        const server = await find();
        if (!this.connecting) throw new Error('The connection was closed');
        stream = tls ? connectTls({ ...server, servername: serverNameOf(server.host) }) : connectTcp(server);
        stream.once('error', (error) => {
          this.firstError = error;
        });
      } catch (error) {
        // ioredis gives up if this rejects. It reports the error of a closed stream, and connects again.
        this.firstError = error instanceof Error ? error : new Error(String(error));
        stream = new Socket().destroy();
      }
      this.stream = stream;
      return stream;
    }
  };
}
