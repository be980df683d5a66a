import { randomUUID } from 'node:crypto';
import { type Redis, ReplyError } from 'ioredis';
import { askInfo, commandError, heartbeatMilliseconds } from './redis-connection.ts';

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

/**
 * Reads the epoch whenever the connection is ready, and then once a second. The latter detects a flush, an eviction, a dead
 * connection, a read-only server, and a server that took the data of another one within the second. While a server is a
 * replica, the read fails; the server is used again after the next read that succeeds.
 * @param url the URL of the server, for errors
 */
export function createRedisEpoch(redis: Redis, url: string, key: string): RedisEpoch {
  let epoch = '';
  let isKnown = false;
  let mustReplace = false;
  /** Increases when what is being read becomes outdated: it may come from a server that has been replaced since. */
  let generation = 0;

  function forget(): void {
    generation += 1;
    isKnown = false;
  }

  async function read(): Promise<void> {
    const begun = generation;
    const memory = await askMemory(redis);
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
  }

  async function refresh(): Promise<void> {
    const begun = generation;
    // Other failures close the connection or are temporary. The next refresh tries again.
    await read().catch((error: unknown) => {
      if (error instanceof ReplyError && begun === generation) isKnown = false;
    });
  }

  redis.on('close', forget);
  redis.on('ready', () => {
    forget();
    void refresh();
  });
  const heartbeat = setInterval(() => {
    if (redis.status === 'ready') void refresh();
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
        throw commandError(url, error, 'cannot be written to');
      }
    },
    close() {
      clearInterval(heartbeat);
      forget();
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
