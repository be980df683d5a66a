import { inspectRedis, type RedisState } from '../../ephemeral/inspect-redis.ts';
import { checkClock } from './check-clock.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn, fail } = findingsOf('redis');

/** Older versions are no longer maintained. */
const minMajorVersion = 6;
/** Every sealed request waits for two replies. */
const slowMilliseconds = 20;
const maxAttempts = 3;

/** Checks that Redis reliably remembers a nonce for two minutes. */
export async function checkRedis(url: string, signal: AbortSignal): Promise<readonly Finding[]> {
  const {
    address,
    version,
    maxMemory,
    maxMemoryPolicy,
    refusesWrites,
    latencyMilliseconds,
    clockAheadMilliseconds,
  } = await inspectWithRetry(url, signal);
  const latency = `${latencyMilliseconds.toFixed(1)} ms`;
  return [
    Number.parseInt(version, 10) < minMajorVersion
      ? warn(`Redis ${version} at ${address} is no longer maintained: install ${minMajorVersion} or newer.`)
      : ok(`Redis ${version} at ${address}`),
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
  'cannot-save':
    'Redis failed to save its data and takes no writes until it can, so every sealed request is refused: check the log ' +
    'of Redis and the free space on its disk.',
};

/** Retries, because one slow reply is not an outage: this machine may have been busy. */
async function inspectWithRetry(url: string, signal: AbortSignal): Promise<RedisState> {
  for (let left = maxAttempts - 1; ; left -= 1) {
    try {
      return await inspectRedis(url, signal);
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
