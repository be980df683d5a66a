import { createConnection, failureOf, fieldsOf, openConnection, redisAddress } from './redis-connection.ts';
import { StoreUnavailableError } from './store.ts';

/** A Redis as an operator wants to know it. */
export interface RedisState {
  /** Host and port. */
  readonly address: string;
  readonly version: string;
  /** Bytes that it may use; 0: as many as there are. Null where it does not say. */
  readonly maxMemory: number | null;
  /** What it does when that is used up. Null where it does not say. */
  readonly maxMemoryPolicy: string | null;
  /** Why it takes no writes, where it says so itself; null as far as it says. */
  readonly refusesWrites: 'replica' | 'full' | 'cannot-save' | null;
  /** The quickest of some answers, in milliseconds. */
  readonly latencyMilliseconds: number;
  /** Its clock less ours, in milliseconds; off by half the latency at most. */
  readonly clockAheadMilliseconds: number;
}

const tries = 5;

/**
 * Asks a Redis what it is. Nothing is written.
 * @param signal ends it
 * @throws {StoreUnavailableError} naming host and port, never the credentials
 */
export async function inspectRedis(url: string, signal: AbortSignal): Promise<RedisState> {
  const redis = createConnection(url);
  const address = redisAddress(url);
  const hangUp = () => redis.disconnect();
  signal.addEventListener('abort', hangUp);
  try {
    await openConnection(redis, url);
    const facts = fieldsOf(await redis.info());
    let [latencyMilliseconds, clockAheadMilliseconds] = [Number.POSITIVE_INFINITY, 0];
    for (let count = 0; count < tries; count += 1) {
      const asked = performance.now();
      const [seconds, microseconds] = await redis.time();
      const latency = performance.now() - asked;
      if (latency >= latencyMilliseconds) continue;
      latencyMilliseconds = latency;
      clockAheadMilliseconds =
        Number(seconds) * 1000 + Number(microseconds) / 1000 - (Date.now() - latency / 2);
    }
    const maxMemory = facts.get('maxmemory');
    return {
      address,
      version: facts.get('redis_version') ?? 'unknown',
      maxMemory: maxMemory === undefined ? null : Number(maxMemory),
      maxMemoryPolicy: facts.get('maxmemory_policy') ?? null,
      refusesWrites: whyNotWritten(facts),
      latencyMilliseconds,
      clockAheadMilliseconds,
    };
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw error;
    throw new StoreUnavailableError(`Redis at ${address} did not answer: ${failureOf(error)}.`);
  } finally {
    signal.removeEventListener('abort', hangUp);
    redis.disconnect();
  }
}

/** A save that failed stops writes by default (stop-writes-on-bgsave-error). */
function whyNotWritten(facts: ReadonlyMap<string, string>): RedisState['refusesWrites'] {
  if (facts.get('role') === 'slave') return 'replica';
  const [used, most] = [Number(facts.get('used_memory')), Number(facts.get('maxmemory'))];
  if (most > 0 && used > most && facts.get('maxmemory_policy') === 'noeviction') return 'full';
  return facts.get('rdb_last_bgsave_status') === 'err' ? 'cannot-save' : null;
}
