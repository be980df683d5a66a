import { EventEmitter } from 'node:events';
import pg from 'pg';
import { DatabaseAwayError } from './open-sockets.ts';

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (failure?: Error | boolean) => void,
) => void;

/** The function of PostgreSQL that warns when a commit no longer waits for its synchronous standby. */
const waitForStandby = 'SyncRepWaitForLSN';

/** Fails a commit that was cancelled, before PostgreSQL reports it as done: no standby has it. */
function failStatement(client: pg.PoolClient): void {
  if (!('connection' in client) || !(client.connection instanceof EventEmitter)) return;
  client.connection.emit('error', new DatabaseAwayError('A commit was cancelled before a standby had it.'));
}

/**
 * A connection pool whose sessions can be made read-only for a while, and whose connections can be closed by the process
 * id of their backend.
 */
export class SessionPool extends pg.Pool {
  readonly #connected = new Set<pg.PoolClient>();
  readonly #readOnlySessions = new WeakSet<pg.PoolClient>();
  #isReadOnly = false;

  constructor(config: pg.PoolConfig) {
    super(config);
    this.on('connect', (client) => {
      this.#connected.add(client);
      // Also for a commit that is answered afterwards as if it were whole.
      client.on('notice', ({ routine }) => {
        if (routine === waitForStandby) failStatement(client);
      });
    });
    this.on('remove', (client) => this.#connected.delete(client));
  }

  /**
   * While true, PostgreSQL refuses each statement that writes (25006) in connections that are taken from now on.
   * Transactions that have begun are not affected. Not for sessions that a connection pooler shares among its clients.
   */
  set readOnly(isReadOnly: boolean) {
    this.#isReadOnly = isReadOnly;
  }

  /** Closes connections in use, at once. Their statements fail here, and go on in the server. */
  hangUp(backends: ReadonlySet<number>): void {
    for (const client of this.#connected) {
      // `end` does not wait for a statement that is running: it destroys the socket.
      if ('processID' in client && backends.has(Number(client.processID))) void client.end();
    }
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const connecting = super.connect().then((client) => this.#prepare(client));
    if (callback === undefined) return connecting;
    connecting.then(
      (client) => callback(undefined, client, client.release),
      (error: Error) => callback(error, undefined, () => undefined),
    );
    return undefined;
  }

  /** Sets the mode of a session when it is taken from the pool, because one in use may be in a transaction. */
  async #prepare(client: pg.PoolClient): Promise<pg.PoolClient> {
    const isReadOnly = this.#isReadOnly;
    if (this.#readOnlySessions.has(client) === isReadOnly) return client;
    try {
      await client.query(
        isReadOnly ? 'SET default_transaction_read_only = on' : 'RESET default_transaction_read_only',
      );
    } catch (error) {
      client.release(true);
      throw error;
    }
    if (isReadOnly) this.#readOnlySessions.add(client);
    else this.#readOnlySessions.delete(client);
    return client;
  }
}
