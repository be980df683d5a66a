import { randomUUID } from 'node:crypto';
import { type Redis, ReplyError } from 'ioredis';
import { failureOf, heartbeatMilliseconds } from './redis-connection.ts';
import { StoreUnavailableError } from './store.ts';

/** The epoch of a Redis server: a random value in a key without an expiry, written by whoever finds it missing. */
export interface RedisEpoch {
  current(): string;
  /**
   * False until this very connection has read the epoch: a server that restarted is never used under the old one. And
   * false while the server refuses to be written to, as it then remembers no nonce.
   */
  isKnown(): boolean;
  /** Writes another one, for every instance; it is not known until that is done. */
  renew(): void;
  /** @throws {StoreUnavailableError} when it cannot be read now */
  known(): Promise<void>;
  close(): void;
}

/**
 * Reads the epoch whenever the connection comes up and once a second after; the latter notices a flush or
 * an eviction, a connection gone silent, and a server that takes no writes.
 * @param onBeat called after each reading that succeeded
 */
export function createRedisEpoch(redis: Redis, key: string, onBeat: () => Promise<void>): RedisEpoch {
  let epoch = '';
  let known = false;
  let connection = 0;
  let closed = false;
  let isOver = false;

  async function read(): Promise<void> {
    const asking = connection;
    // Written though it is there already: a server that is full, cannot save or is a replica refuses that too.
    if (isOver) await redis.set(key, randomUUID());
    else await redis.set(key, randomUUID(), 'NX');
    const found = await redis.get(key);
    if (found === null) throw new Error('The epoch vanished between two commands');
    // The connection may have been replaced meanwhile; then this is the answer of another server's life.
    if (asking !== connection || closed) return;
    epoch = found;
    known = true;
    isOver = false;
  }

  async function beat(): Promise<void> {
    const asking = connection;
    try {
      await read();
    } catch (error) {
      // Of other failures the connection's own events and time limits say what follows. The next beat asks again.
      if (error instanceof ReplyError && asking === connection) known = false;
      return;
    }
    await onBeat().catch(() => undefined);
  }

  redis.on('ready', () => {
    connection += 1;
    known = false;
    void beat();
  });
  redis.on('close', () => {
    connection += 1;
    known = false;
  });
  const heartbeat = setInterval(() => {
    if (redis.status === 'ready') void beat();
  }, heartbeatMilliseconds);
  heartbeat.unref();

  return {
    current: () => epoch,
    isKnown: () => known && redis.status === 'ready',
    renew() {
      // What is being read now is the one that ends.
      connection += 1;
      known = false;
      isOver = true;
      void beat();
    },
    async known() {
      try {
        await read();
      } catch (error) {
        throw new StoreUnavailableError(`Redis cannot be written to: ${failureOf(error)}.`);
      }
    },
    close() {
      closed = true;
      known = false;
      clearInterval(heartbeat);
    },
  };
}
