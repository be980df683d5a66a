import { randomUUID } from 'node:crypto';
import { type Redis, ReplyError } from 'ioredis';
import { failureOf, heartbeatMilliseconds } from './redis-connection.ts';
import { StoreUnavailableError } from './store.ts';

/**
 * The epoch of a Redis server: a random value in a key without an expiry, written by whoever finds it missing, or finds
 * it of another server process. One that has loaded an older dump, or a replica that was promoted, has the epoch that
 * was, and not all nonces.
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

/** Replaces the epoch as it was read: of several instances that find it of another process, one does, for all. */
const replaceScript = `
  if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2]) end
  return redis.call('GET', KEYS[1])`;

/**
 * Reads the epoch whenever the connection comes up and once a second after; the latter notices a flush or
 * an eviction, a connection gone silent, and a server that takes no writes.
 * @param onBeat called after each reading that succeeded
 */
export function createRedisEpoch(redis: Redis, key: string, onBeat: () => Promise<void>): RedisEpoch {
  let epoch = '';
  let known = false;
  /** What this connection's server calls its process; null where it does not say. */
  let runId: string | null = null;
  let connection = 0;
  let closed = false;
  let isOver = false;

  async function read(): Promise<void> {
    const asking = connection;
    const isFirst = !known;
    const run = isFirst ? await askRunId(redis) : runId;
    const fresh = run === null ? randomUUID() : `${randomUUID()} ${run}`;
    // Written though it is there already: a server that is full, cannot save or is a replica refuses that too.
    if (isOver) await redis.set(key, fresh);
    else await redis.set(key, fresh, 'NX');
    let found: unknown = await redis.get(key);
    // The connection may have been replaced meanwhile; then this is the answer of another server's life.
    const isOutdated = () => asking !== connection || closed;
    if (isFirst && run !== null && typeof found === 'string' && !found.endsWith(run) && !isOutdated()) {
      found = await redis.eval(replaceScript, 1, key, found, fresh);
    }
    if (typeof found !== 'string') throw new Error('The epoch vanished between two commands');
    if (isOutdated()) return;
    epoch = found;
    runId = run;
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

/** What a server calls its process, drawn at each start of one; null where INFO is not allowed or does not have it. */
async function askRunId(redis: Redis): Promise<string | null> {
  try {
    return /^run_id:(\w+)/m.exec(await redis.info('server'))?.[1] ?? null;
  } catch (error) {
    if (/^(NOPERM|ERR)$/.test(failureOf(error))) return null;
    throw error;
  }
}
