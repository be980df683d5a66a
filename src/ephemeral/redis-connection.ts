import { Redis } from 'ioredis';
import { describeTlsFailure } from '../lib/tls-failure.ts';
import { StoreUnavailableError } from './store.ts';

/** Timeout of a command, after which the connection is considered dead, in milliseconds. */
export const commandTimeoutMilliseconds = 1000;
/** Interval at which connections are checked, in milliseconds. */
export const heartbeatMilliseconds = 1000;

/**
 * Creates a connection that fails fast: a command is sent or refused immediately, and never queued or sent again. (A
 * repeated SET NX would find its own key, and a first use would look like a replay.)
 */
export function createConnection(url: string): Redis {
  return new GatheringRedis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    autoResubscribe: false,
    commandTimeout: commandTimeoutMilliseconds,
    // Detects a connection that is dead but not closed, by the first command without an answer.
    socketTimeout: commandTimeoutMilliseconds,
    connectTimeout: 2 * commandTimeoutMilliseconds,
    retryStrategy: (attempt) => Math.min(25 * 2 ** attempt, 1000),
    // After a failover the old primary refuses writes: resolve the address again.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
}

/**
 * Sends all commands of one turn of the event loop in one write to the socket, which is the most expensive part of a
 * command. Unlike in a pipeline, each command keeps its own answer and timeout.
 */
class GatheringRedis extends Redis {
  override sendCommand(...[command, stream]: Parameters<Redis['sendCommand']>): unknown {
    const { stream: socket } = this;
    if (socket?.writable && socket.writableCorked === 0) {
      socket.cork();
      setImmediate(() => socket.uncork());
    }
    return super.sendCommand(command, stream);
  }
}

const tlsAdvice = {
  trust: 'in NODE_EXTRA_CA_CERTS, which Node.js reads at start',
  clientCertificate: 'set tls-auth-clients to no there, and authenticate with the password of REDIS_URL',
};

/** Without TLS on its port, Redis does not answer at all; without a required client certificate, it closes the connection. */
const alsoCheck = (url: string): string =>
  new URL(url).protocol === 'rediss:'
    ? ', uses TLS on this port, and requires no client certificates (tls-auth-clients no)'
    : '';

/**
 * Waits for the first connection, and checks that it has the URL's user and database, and is not part of a cluster. After a
 * failure the caller disconnects.
 * @throws {StoreUnavailableError} with host and port, never with the credentials
 */
export async function openConnection(redis: Redis, url: string): Promise<void> {
  let reason: unknown;
  redis.on('error', (error) => {
    reason = error;
  });
  try {
    await redis.connect();
  } catch (error) {
    const failure =
      describeTlsFailure(reason ?? error, tlsAdvice) ??
      `cannot be used: ${failureOf(reason ?? error)}. Check REDIS_URL and that the server runs${alsoCheck(url)}`;
    throw new StoreUnavailableError(`Redis at ${redisAddress(url)} ${failure}.`);
  }
  try {
    await requireCredentialsAndDatabase(redis, url);
    const isInCluster = (await askInfo(redis, 'cluster'))?.get('cluster_enabled') === '1';
    if (isInCluster && !(await hasAllSlots(redis))) throw partOfCluster(url);
  } catch (error) {
    throw commandError(url, error);
  }
}

/** The error for a command that failed. An error that already explains it is returned as it is. */
export function commandError(url: string, error: unknown, failure = 'did not answer'): StoreUnavailableError {
  if (error instanceof StoreUnavailableError) return error;
  // A cluster node refused a key of another node, or any key because the cluster is down.
  if (/^(MOVED|ASK|CLUSTERDOWN)$/.test(failureOf(error))) return partOfCluster(url);
  return new StoreUnavailableError(`Redis at ${redisAddress(url)} ${failure}: ${failureOf(error)}.`);
}

/**
 * ioredis ignores a failed SELECT, and would use database 0, which may be another program's. It also ignores that the server
 * requires no password. So both commands are repeated here.
 */
async function requireCredentialsAndDatabase(redis: Redis, url: string): Promise<void> {
  const { username, password, db = 0 } = redis.options;
  const refuse = (reason: string) => (error: unknown) => {
    throw new StoreUnavailableError(
      `Redis at ${redisAddress(url)} ${reason} (${failureOf(error)}). Correct REDIS_URL.`,
    );
  };
  if (password) {
    // If the default user has no password, Redis refuses AUTH with one argument, but not with two.
    const isNamed = username && username !== 'default';
    await (isNamed ? redis.auth(username, password) : redis.auth(password)).catch(
      refuse('does not accept the user name and password of REDIS_URL'),
    );
  }
  await redis.select(db).catch(refuse(`has no database ${db}`));
}

/**
 * The fields of a section of INFO, such as `server`; null if this user may not run it, or the server does not have it.
 */
export const askInfo = (redis: Redis, section: string): Promise<ReadonlyMap<string, string> | null> =>
  fieldsIfAllowed(redis.info(section));

/** True if a cluster has only one master, which then accepts every key. Managed services offer such clusters. */
async function hasAllSlots(redis: Redis): Promise<boolean> {
  const cluster = await fieldsIfAllowed(redis.cluster('INFO'));
  return cluster?.get('cluster_size') === '1' && cluster.get('cluster_slots_assigned') === '16384';
}

async function fieldsIfAllowed(answer: Promise<string>): Promise<ReadonlyMap<string, string> | null> {
  try {
    return fieldsOf(await answer);
  } catch (error) {
    if (/^(NOPERM|ERR)$/.test(failureOf(error))) return null;
    throw error;
  }
}

/** Parses the `name:value` lines of INFO. */
export const fieldsOf = (info: string): ReadonlyMap<string, string> =>
  new Map(Array.from(info.matchAll(/^(\w+):(.*?)\r?$/gm), ([, name = '', value = '']) => [name, value]));

/** A master of a cluster stores some of the keys and refuses all others, so most nonces could not be checked. */
const partOfCluster = (url: string): StoreUnavailableError =>
  new StoreUnavailableError(
    `Redis at ${redisAddress(url)} is a part of a Redis Cluster and accepts only the keys of its slots, so most ` +
      'requests would be refused. Set REDIS_URL to a Redis that is not a cluster (cluster-enabled no). One is enough for ' +
      'many instances, and it may have replicas.',
  );

/** Host and port of a Redis URL, without the credentials. */
export function redisAddress(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname || 'localhost'}:${port || '6379'}`;
}

/**
 * Describes a failure without secrets. An error of ioredis contains its command, which for AUTH has the password, so only
 * the code is used.
 */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure';
  if ('code' in error && typeof error.code === 'string') return error.code;
  // Errors of Redis begin with a code: WRONGPASS, NOAUTH, OOM, READONLY.
  const code = /^[A-Z]{3,}\b/.exec(error.message)?.[0];
  if (code !== undefined) return code;
  return error.message === 'Command timed out' ? 'no answer in time' : 'connection lost';
}
