import { randomUUID } from 'node:crypto';
import { type Redis, ReplyError } from 'ioredis';
import { nameOfRedis, type RedisAddress } from './redis-address.ts';
import { askInfo, heartbeatMilliseconds } from './redis-connection.ts';
import { commandError } from './redis-failure.ts';
import { StoreUnavailableError } from './store.ts';

/**
 * The epoch of a Redis server: a random value in a key without an expiry. An instance writes it if it is missing, or if it
 * belongs to another server process or other data. A server that loaded an older dump, a promoted replica, and a master that
 * was a replica in the meantime have an old epoch and may lack nonces.
 */
export interface RedisEpoch {
  current(): string;
  /**
   * Whether the current connection has read the epoch, so that a restarted server is never used under the old one, and
   * whether the server accepts writes, because otherwise it stores no nonce.
   */
  isKnown(): boolean;
  /** Replaces the epoch for all instances. It is unknown until then. */
  renew(): void;
  /**
   * Reads the epoch for the first time.
   * @throws {StoreUnavailableError}
   */
  load(): Promise<void>;
  close(): void;
}

/** Replaces the epoch that was read. If several instances do so, the first one replaces it for all. */
const replaceScript = `
  if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2]) end
  return redis.call('GET', KEYS[1])`;

export interface RedisEpochOptions {
  readonly redis: Redis;
  /** For errors. */
  readonly address: RedisAddress;
  readonly key: string;
  /** Called at each read of the epoch. */
  readonly onUsable: () => void;
  /** Called at each failure, with its cause if that is known: an attempt to connect, or a server that refuses writes. */
  readonly onUnusable: (cause: unknown) => void;
}

/**
 * Reads the epoch whenever the connection is ready, and then once a second. The latter detects a flush, an eviction, a dead
 * connection, a read-only server, and a server that took the data of another one within the second. While a server refuses
 * writes, the read fails; the server is used again after the next read that succeeds. Meanwhile the connection is closed
 * once a second, because another server may be the master: one whose replicas have left it (NOREPLICAS), or that a cluster
 * has separated from (CLUSTERDOWN), is never told.
 */
export function createRedisEpoch(options: RedisEpochOptions): RedisEpoch {
  const { redis, address, key, onUsable, onUnusable } = options;
  let epoch = '';
  let isKnown = false;
  let mustReplace = false;
  let isRefused = false;
  /** What failed last. Kept, because a connection that is closed and opened again each second would hide it. */
  let cause: unknown;
  /** Increases when what is being read becomes outdated: it may come from a server that has been replaced since. */
  let generation = 0;

  function forget(): void {
    generation += 1;
    isKnown = false;
  }

  async function read(): Promise<void> {
    const begun = generation;
    const memory = await askMemory(redis);
    // Nothing else distinguishes a promoted replica, which may lack nonces, from the master that it replaces.
    if (memory === null && address.kind !== 'single') throw new StoreUnavailableError(withoutInfo(address));
    const fresh = memory === null ? randomUUID() : `${randomUUID()} ${memory}`;
    // SET even if the key exists: a server that is full, cannot save or is a replica refuses it.
    if (mustReplace) await redis.set(key, fresh);
    else await redis.set(key, fresh, 'NX');
    let found: unknown = await redis.get(key);
    if (
      memory !== null &&
      typeof found === 'string' &&
      !found.endsWith(` ${memory}`) &&
      begun === generation
    ) {
      found = await redis.eval(replaceScript, 1, key, found, fresh);
    }
    if (typeof found !== 'string') throw new Error('The epoch disappeared between two commands');
    if (begun !== generation) return;
    epoch = found;
    isKnown = true;
    mustReplace = false;
    isRefused = false;
    cause = undefined;
    onUsable();
  }

  async function refresh(): Promise<void> {
    const begun = generation;
    // Other failures close the connection or are temporary. The next refresh tries again.
    await read().catch((error: unknown) => {
      const isRefusal = error instanceof ReplyError || error instanceof StoreUnavailableError;
      if (!isRefusal || begun !== generation) return;
      isKnown = false;
      isRefused = true;
      cause = error;
      onUnusable(cause);
    });
  }

  redis.on('error', (error) => {
    cause = error;
  });
  redis.on('close', () => {
    forget();
    onUnusable(cause);
  });
  redis.on('ready', () => {
    forget();
    isRefused = false;
    void refresh();
  });
  const heartbeat = setInterval(() => {
    if (redis.status !== 'ready') return;
    if (isRefused) redis.disconnect(true);
    else void refresh();
  }, heartbeatMilliseconds);
  heartbeat.unref();

  return {
    current: () => epoch,
    isKnown: () => isKnown && redis.status === 'ready',
    renew() {
      forget();
      mustReplace = true;
      void refresh();
    },
    async load() {
      try {
        await read();
      } catch (error) {
        throw commandError(address, error, 'cannot be written to');
      }
    },
    close() {
      clearInterval(heartbeat);
      forget();
    },
  };
}

const withoutInfo = (address: RedisAddress): string =>
  `${nameOfRedis(address)} does not allow INFO, without which a failover cannot be noticed: grant +info to the user of REDIS_URL.`;

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
