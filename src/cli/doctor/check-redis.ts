import { inspectRedis, type RedisState } from '../../ephemeral/inspect-redis.ts';
import { keyPrefixAt, type RedisAddress } from '../../ephemeral/redis-address.ts';
import { checkClock } from './check-clock.ts';
import { checkCluster } from './check-cluster.ts';
import { checkSentinels } from './check-sentinels.ts';
import { type Finding, findingsOf, withinTime } from './finding.ts';

const { ok, warn, fail } = findingsOf('redis');

/** Older versions are no longer maintained. */
const minMajorVersion = 6;
/** Every sealed request waits for two replies. */
const slowMilliseconds = 20;
const maxAttempts = 3;

/** Timeout of each part, in seconds. */
const timeoutSeconds = 10;

/**
 * Checks that Redis reliably remembers a nonce for two minutes, and that what names the master will name another one if it
 * fails.
 * @param prefix of this installation's keys
 */
export async function* checkRedis(address: RedisAddress, prefix: string): AsyncGenerator<Finding> {
  const key = `${keyPrefixAt(address, prefix)}epoch`;
  yield* await withinTime('redis', timeoutSeconds, () => checkNaming(address, key));
  yield* await withinTime('redis', timeoutSeconds, (signal) => checkServer(address, key, signal));
}

async function checkNaming(address: RedisAddress, key: string): Promise<readonly Finding[]> {
  switch (address.kind) {
    case 'single':
      return [];
    case 'sentinel':
      return checkSentinels(address);
    case 'cluster':
      return checkCluster(address, key);
  }
}

async function checkServer(
  address: RedisAddress,
  key: string,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const {
    server,
    version,
    maxMemory,
    maxMemoryPolicy,
    refusesWrites,
    latencyMilliseconds,
    clockAheadMilliseconds,
  } = await inspectWithRetry(address, key, signal);
  const latency = `${latencyMilliseconds.toFixed(1)} ms`;
  return [
    Number.parseInt(version, 10) < minMajorVersion
      ? warn(`Redis ${version} at ${server} is no longer maintained: install ${minMajorVersion} or newer.`)
      : ok(`Redis ${version} at ${server}`),
    checkMemory(maxMemory, maxMemoryPolicy),
    ...(refusesWrites === null ? [] : [fail(writeRefusals[refusesWrites])]),
    latencyMilliseconds > slowMilliseconds
      ? warn(
          `Redis takes ${latency} to reply, and every sealed request waits for two replies: run it closer to the service.`,
        )
      : ok(`Redis replies in ${latency}`),
    checkClock('Redis', clockAheadMilliseconds, 'redis'),
  ];
}

const writeRefusals: Readonly<Record<NonNullable<RedisState['refusesWrites']>, string>> = {
  replica:
    'Redis is a replica and takes no writes, so every sealed request is refused: set REDIS_URL to the primary.',
  full: 'Redis is full and takes no writes, so every sealed request is refused: raise its maxmemory.',
  'few-replicas':
    'Redis has none of the replicas that it requires and takes no writes, so every sealed request is refused: start its ' +
    'replicas, or lower min-replicas-to-write.',
  'cannot-save':
    'Redis failed to save its data and takes no writes until it can, so every sealed request is refused: check the log ' +
    'of Redis and the free space on its disk.',
};

/** Retries, because one slow reply is not an outage: this machine may have been busy. */
async function inspectWithRetry(
  address: RedisAddress,
  key: string,
  signal: AbortSignal,
): Promise<RedisState> {
  for (let left = maxAttempts - 1; ; left -= 1) {
    try {
      return await inspectRedis(address, key, signal);
    } catch (error) {
      if (left === 0 || signal.aborted) throw error;
    }
  }
}

/** An evicted nonce allows a replay, and an evicted epoch ends every session. */
function checkMemory(maxMemory: number | null, policy: string | null): Finding {
  if (policy === null || maxMemory === null) {
    return warn(
      'Redis does not report its maxmemory-policy: make sure that it is noeviction. An evicted nonce allows a recorded ' +
        'request to be replayed.',
    );
  }
  if (policy === 'noeviction') return ok('Redis evicts nothing (maxmemory-policy noeviction)');
  if (maxMemory === 0) {
    return ok(`Redis evicts nothing, because maxmemory is not set (maxmemory-policy ${policy})`);
  }
  return fail(
    `Redis evicts keys when its memory is full (maxmemory-policy ${policy}), and an evicted nonce allows a recorded ` +
      'request to be replayed. Run "CONFIG SET maxmemory-policy noeviction", and set it in the configuration of Redis.',
  );
}
