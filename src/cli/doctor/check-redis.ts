import { inspectRedis, type RedisState } from '../../ephemeral/inspect-redis.ts';
import { checkClock } from './check-clock.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn, fail } = findingsOf('redis');

/** `SET … NX EX` and what else is used; older ones are no longer maintained. */
const oldestMajorVersion = 6;
/** Every sealed request waits for two answers. */
const slowMilliseconds = 20;
const mostTries = 3;

/** Asks Redis whether it can be relied upon to remember a nonce for two minutes. */
export async function checkRedis(url: string, signal: AbortSignal): Promise<readonly Finding[]> {
  const {
    address,
    version,
    maxMemory,
    maxMemoryPolicy,
    refusesWrites,
    latencyMilliseconds,
    clockAheadMilliseconds,
  } = await inspectPatiently(url, signal);
  const latency = `${latencyMilliseconds.toFixed(1)} ms`;
  return [
    Number.parseInt(version, 10) < oldestMajorVersion
      ? warn(
          `Redis ${version} at ${address} is no longer maintained: install ${oldestMajorVersion} or newer.`,
        )
      : ok(`Redis ${version} at ${address}`),
    checkMemory(maxMemory, maxMemoryPolicy),
    ...(refusesWrites === null ? [] : [fail(whatRefusalNeeds[refusesWrites])]),
    latencyMilliseconds > slowMilliseconds
      ? warn(`Redis takes ${latency} to answer, and every sealed request asks it twice: bring it nearer.`)
      : ok(`Redis answers in ${latency}`),
    checkClock('Redis', clockAheadMilliseconds, 'redis'),
  ];
}

const whatRefusalNeeds: Readonly<Record<NonNullable<RedisState['refusesWrites']>, string>> = {
  replica:
    'Redis is a replica and takes no writes, so every sealed request is refused: name the primary in REDIS_URL.',
  full: 'Redis is full and takes no writes, so every sealed request is refused: raise its maxmemory.',
  'cannot-save':
    'Redis could not save its data the last time, and by default takes no writes until it can, so that every sealed ' +
    "request is refused: look into Redis's log and make room on its disk.",
};

/** One answer that is late is no outage: this machine may have been busy. */
async function inspectPatiently(url: string, signal: AbortSignal): Promise<RedisState> {
  for (let left = mostTries - 1; ; left -= 1) {
    try {
      return await inspectRedis(url, signal);
    } catch (error) {
      if (left === 0 || signal.aborted) throw error;
    }
  }
}

/** An evicted nonce is one that can be used again; an evicted epoch ends every session. */
function checkMemory(maxMemory: number | null, policy: string | null): Finding {
  if (policy === null || maxMemory === null) {
    return warn(
      'Redis does not say what it does when its memory is full: make sure that maxmemory-policy is noeviction. An ' +
        'evicted nonce lets a recorded request be sent again.',
    );
  }
  if (policy === 'noeviction') return ok('Redis evicts nothing (maxmemory-policy noeviction)');
  if (maxMemory === 0) {
    return ok(`Redis evicts nothing, as it has no maxmemory (its maxmemory-policy is ${policy})`);
  }
  return fail(
    `Redis evicts keys when its memory is full (maxmemory-policy ${policy}): an evicted nonce lets a recorded ` +
      'request be sent again. Run "CONFIG SET maxmemory-policy noeviction", and set it in its configuration.',
  );
}
