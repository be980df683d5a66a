import { hostOfUrl, type RedisAddress } from './redis-address.ts';
import { createConnection, fieldsOf, openConnection } from './redis-connection.ts';
import { commandError } from './redis-failure.ts';

/** What `latchkey doctor` reports about a Redis. */
export interface RedisState {
  /** Host and port; of the master that was found, its IP address. */
  readonly server: string;
  readonly version: string;
  /** Memory limit in bytes; 0 for none, null if unknown. */
  readonly maxMemory: number | null;
  /** What Redis does at the memory limit; null if unknown. */
  readonly maxMemoryPolicy: string | null;
  /** Why Redis refuses writes; null if it does not, or does not say so. */
  readonly refusesWrites: 'replica' | 'full' | 'few-replicas' | 'cannot-save' | null;
  /** The shortest of several round trips. */
  readonly latencyMilliseconds: number;
  /** The time by which Redis's clock is ahead of this machine's. The error is at most half the latency. */
  readonly clockAheadMilliseconds: number;
}

const roundTrips = 5;

/**
 * Queries the state of a Redis, without writing.
 * @param key in a cluster, the master that stores this key is queried
 * @param signal cancels the query
 * @throws {StoreUnavailableError} with the hosts, never with the credentials
 */
export async function inspectRedis(
  address: RedisAddress,
  key: string,
  signal: AbortSignal,
): Promise<RedisState> {
  const redis = createConnection(address, key);
  const disconnect = () => redis.disconnect();
  signal.addEventListener('abort', disconnect);
  try {
    await openConnection(redis, address);
    const facts = fieldsOf(await redis.info());
    let [latencyMilliseconds, clockAheadMilliseconds] = [Number.POSITIVE_INFINITY, 0];
    for (let count = 0; count < roundTrips; count += 1) {
      const start = performance.now();
      const [seconds, microseconds] = await redis.time();
      const latency = performance.now() - start;
      if (latency >= latencyMilliseconds) continue;
      latencyMilliseconds = latency;
      clockAheadMilliseconds =
        Number(seconds) * 1000 + Number(microseconds) / 1000 - (Date.now() - latency / 2);
    }
    const maxMemory = facts.get('maxmemory');
    return {
      server:
        address.kind === 'single'
          ? hostOfUrl(address.url)
          : `${redis.stream.remoteAddress}:${redis.stream.remotePort}`,
      version: facts.get('redis_version') ?? 'unknown',
      maxMemory: maxMemory === undefined ? null : Number(maxMemory),
      maxMemoryPolicy: facts.get('maxmemory_policy') ?? null,
      refusesWrites: reasonForRefusal(facts),
      latencyMilliseconds,
      clockAheadMilliseconds,
    };
  } catch (error) {
    throw commandError(address, error);
  } finally {
    signal.removeEventListener('abort', disconnect);
    disconnect();
  }
}

/** By default, a failed save stops writes (stop-writes-on-bgsave-error). */
function reasonForRefusal(facts: ReadonlyMap<string, string>): RedisState['refusesWrites'] {
  if (facts.get('role') === 'slave') return 'replica';
  const [used, most] = [Number(facts.get('used_memory')), Number(facts.get('maxmemory'))];
  if (most > 0 && used > most && facts.get('maxmemory_policy') === 'noeviction') return 'full';
  // Present only if the server requires replicas (min-replicas-to-write).
  if (facts.get('min_slaves_good_slaves') === '0') return 'few-replicas';
  return facts.get('rdb_last_bgsave_status') === 'err' ? 'cannot-save' : null;
}
