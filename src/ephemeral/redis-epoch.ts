import { randomUUID } from 'node:crypto';
import { type Redis, ReplyError } from 'ioredis';
import { askInfo, failureOf, heartbeatMilliseconds, isOfCluster, partOfCluster } from './redis-connection.ts';
import { StoreUnavailableError } from './store.ts';

/**
 * The epoch of a Redis server: a random value in a key without an expiry. An instance writes it if it is missing, or if it
 * belongs to another server process or other data. A server that loaded an older dump, a promoted replica, and a master that
 * was a replica in the meantime have an old epoch and may lack nonces.
 */
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

export interface RedisEpochOptions {
  /** The URL of the server, for errors. */
  readonly url: string;
  readonly key: string;
}

/** Replaces the epoch that was read. If several instances find that it belongs to another memory, one replaces it for all. */
const replaceScript = `
  if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2]) end
  return redis.call('GET', KEYS[1])`;

/**
 * Reads the epoch whenever the connection comes up, and once a second afterwards. The latter notices a flush, an eviction,
 * a silent connection, a read-only server, and a server that took the data of another one within the second. If a server
 * is a replica for longer, the read fails, and the server is used again after the next read that succeeds.
 */
export function createRedisEpoch(redis: Redis, { url, key }: RedisEpochOptions): RedisEpoch {
  let epoch = '';
  let known = false;
  let connection = 0;
  let closed = false;
  let isOver = false;

  async function read(): Promise<void> {
    const asking = connection;
    const memory = await askMemory(redis);
    const fresh = memory === null ? randomUUID() : `${randomUUID()} ${memory}`;
    // Written though it is there already: a server that is full, cannot save or is a replica refuses that too.
    if (isOver) await redis.set(key, fresh);
    else await redis.set(key, fresh, 'NX');
    let found: unknown = await redis.get(key);
    // The connection may have been replaced meanwhile; then this is the answer of another server's life.
    const isOutdated = () => asking !== connection || closed;
    if (memory !== null && typeof found === 'string' && !found.endsWith(` ${memory}`) && !isOutdated()) {
      found = await redis.eval(replaceScript, 1, key, found, fresh);
    }
    if (typeof found !== 'string') throw new Error('The epoch vanished between two commands');
    if (isOutdated()) return;
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
    }
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
        if (isOfCluster(error)) throw partOfCluster(url);
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

/**
 * Identifies this memory: the id of its data history, which changes when a replica is promoted, and the id of its process,
 * which is new at each start. (A first replica also changes the former; then sessions end without need, which costs a
 * handshake.) The process id comes last, where earlier versions look for it. Null if INFO is not allowed or lacks them.
 */
async function askMemory(redis: Redis): Promise<string | null> {
  const [server, replication] = await Promise.all([askInfo(redis, 'server'), askInfo(redis, 'replication')]);
  const names = [replication?.get('master_replid'), server?.get('run_id')].filter(
    (name) => name !== undefined,
  );
  return names.length === 0 ? null : names.join(' ');
}
