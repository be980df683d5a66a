import { Redis } from 'ioredis';
import { describeTlsFailure } from '../lib/tls-failure.ts';
import { StoreUnavailableError } from './store.ts';

/** A command without an answer after this many milliseconds has failed, and its connection is taken for dead. */
export const commandTimeoutMilliseconds = 1000;
/** How often an idle connection is asked whether it still is one. */
export const heartbeatMilliseconds = 1000;
const longestRetryMilliseconds = 1000;

/**
 * A connection that fails fast: a command is sent now or refused now, never queued for later and never
 * sent twice. (A repeated SET NX would find its own key and call a first use a replay.)
 */
export function createConnection(url: string): Redis {
  return new GatheringRedis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    autoResubscribe: false,
    commandTimeout: commandTimeoutMilliseconds,
    // A peer that went silent without closing is noticed by the first command that it leaves unanswered.
    socketTimeout: commandTimeoutMilliseconds,
    connectTimeout: 2 * commandTimeoutMilliseconds,
    retryStrategy: (attempt) => Math.min(25 * 2 ** Math.min(attempt, 10), longestRetryMilliseconds),
    // After a failover the old primary refuses writes: look the address up again.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
}

/**
 * Has what one turn of the event loop sends leave in one write: a write to a socket costs more than all else that a
 * command takes here. Each command keeps its place, its answer and its time limit, as in no pipeline.
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
  trust: 'in NODE_EXTRA_CA_CERTS, which Node.js reads at its start',
  clientCertificate: 'set tls-auth-clients to no there, and let the password of REDIS_URL tell who asks',
};

/** A Redis that is spoken to in TLS where it speaks none waits for the end of a line; one that misses a certificate hangs up. */
const alsoCheck = (url: string): string =>
  new URL(url).protocol === 'rediss:'
    ? ', speaks TLS at this port, and asks its clients for no certificates (tls-auth-clients no)'
    : '';

/**
 * Waits for the first connection, and holds it to what the URL asks for.
 * @throws {StoreUnavailableError} naming host and port, never the credentials
 */
export async function openConnection(redis: Redis, url: string): Promise<void> {
  let reason: unknown;
  redis.on('error', (error) => {
    reason = error;
  });
  try {
    await redis.connect();
  } catch (error) {
    redis.disconnect();
    const tls = describeTlsFailure(reason ?? error, tlsAdvice);
    throw new StoreUnavailableError(
      `Redis at ${redisAddress(url)} ` +
        (tls === null
          ? `cannot be used: ${failureOf(reason ?? error)}. Check REDIS_URL and that the server runs${alsoCheck(url)}.`
          : `${tls}.`),
    );
  }
  try {
    await requireCredentialsAndDatabase(redis, url);
    const isOfOne = (await askInfo(redis, 'cluster'))?.get('cluster_enabled') === '1';
    if (isOfOne && !(await hasAllSlots(redis))) throw partOfCluster(url);
  } catch (error) {
    redis.disconnect();
    if (error instanceof StoreUnavailableError) throw error;
    throw new StoreUnavailableError(`Redis at ${redisAddress(url)} did not answer: ${failureOf(error)}.`);
  }
}

/**
 * The client goes on after a SELECT that failed, on database 0 that may be another program's, and after a password
 * that the server does not ask for: so both are asked again, and a refusal counts.
 */
async function requireCredentialsAndDatabase(redis: Redis, url: string): Promise<void> {
  const { username, password, db = 0 } = redis.options;
  const refused = (what: string) => (error: unknown) => {
    throw new StoreUnavailableError(
      `Redis at ${redisAddress(url)} ${what} (${failureOf(error)}). Correct REDIS_URL.`,
    );
  };
  if (password) {
    // The form with one argument is refused where the default user has no password; that with two is not.
    const named = username !== undefined && username !== null && username !== '' && username !== 'default';
    const login = named ? redis.auth(username, password) : redis.auth(password);
    await login.catch(refused('does not take the user name and password of REDIS_URL'));
  }
  await redis.select(db).catch(refused(`has no database ${db}`));
}

/**
 * The `name:value` lines of INFO; null if this user may not run it, or the server does not have it.
 * @param section a section of INFO, such as `server`
 */
export async function askInfo(redis: Redis, section: string): Promise<ReadonlyMap<string, string> | null> {
  try {
    return fieldsOf(await redis.info(section));
  } catch (error) {
    if (/^(NOPERM|ERR)$/.test(failureOf(error))) return null;
    throw error;
  }
}

const slotsOfCluster = '16384';

/** True if a cluster has only one master, which then accepts every key. Managed services offer such clusters. */
async function hasAllSlots(redis: Redis): Promise<boolean> {
  try {
    const cluster = fieldsOf(await redis.cluster('INFO'));
    return cluster.get('cluster_size') === '1' && cluster.get('cluster_slots_assigned') === slotsOfCluster;
  } catch (error) {
    if (/^(NOPERM|ERR)$/.test(failureOf(error))) return false;
    throw error;
  }
}

/** Of all of INFO, or of a section. */
export function fieldsOf(info: string): ReadonlyMap<string, string> {
  return new Map(
    info.split(/\r?\n/).flatMap((line): [string, string][] => {
      const colon = line.indexOf(':');
      return colon < 1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)]];
    }),
  );
}

/** A master of a cluster stores some of the keys and refuses all others: most nonces could not be checked. */
export const partOfCluster = (url: string): StoreUnavailableError =>
  new StoreUnavailableError(
    `Redis at ${redisAddress(url)} is a part of a Redis Cluster and accepts only the keys of its slots, so most ` +
      'requests would be refused. Set REDIS_URL to a Redis that is not a cluster (cluster-enabled no). One is enough for ' +
      'many instances, and it may have replicas.',
  );

/** The errors of a cluster node for keys of other slots, and while the cluster is down. */
export const isOfCluster = (error: unknown): boolean => /^(MOVED|ASK|CLUSTERDOWN)$/.test(failureOf(error));

/** Host and port of a Redis URL, the part that may be shown. */
export function redisAddress(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname || 'localhost'}:${port || '6379'}`;
}

/**
 * A failure in words that hold no secret. An error of the client carries its command, and that of a refused
 * login the password in it; so only a code is taken, never the message or the error itself.
 */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure';
  if ('code' in error && typeof error.code === 'string') return error.code;
  // Redis starts its errors with a code in capitals: WRONGPASS, NOAUTH, OOM, READONLY.
  const code = /^[A-Z]{3,}\b/.exec(error.message)?.[0];
  if (code !== undefined) return code;
  return error.message === 'Command timed out' ? 'no answer in time' : 'connection lost';
}
