import { Redis } from 'ioredis';
import { createMasterSearch } from './find-master.ts';
import { createOwnerSearch } from './find-slot-owner.ts';
import {
  type Host,
  type LocatedAddress,
  nameOfRedis,
  type RedisAddress,
  type SingleAddress,
  usesTls,
} from './redis-address.ts';
import { connectorTo, disconnectMilliseconds } from './redis-connector.ts';
import {
  commandError,
  failureOf,
  isUnknownCommand,
  NamedReplicaError,
  partOfCluster,
  tlsFailureOf,
} from './redis-failure.ts';
import { StoreUnavailableError } from './store.ts';

/** Timeout of a command, after which the connection is considered dead, in milliseconds. */
export const commandTimeoutMilliseconds = 1000;
/** Interval at which connections are checked, in milliseconds. */
export const heartbeatMilliseconds = 1000;
/** The longest pause between two searches for a master, in milliseconds. */
const maxSearchPause = 250;

/**
 * Creates a connection for commands.
 * @param key a key of the installation: in a cluster, the connection is to the master that stores it
 */
export const createConnection = (address: RedisAddress, key: string): Redis =>
  address.kind === 'single' ? connectTo(address) : connectToFound(address, searchIn(address, key));

/**
 * Creates a connection for commands, and one for subscriptions to the server that the first one has found. Sentinels that
 * cannot reach each other name different masters, and what is published on one does not arrive at the other.
 */
export function createConnections(
  address: RedisAddress,
  key: string,
): { readonly redis: Redis; readonly subscriber: Redis } {
  if (address.kind === 'single') return { redis: connectTo(address), subscriber: connectTo(address) };
  const search = searchIn(address, key);
  let found: Host | null = null;
  const redis = connectToFound(address, async () => {
    found = await search();
    return found;
  });
  redis.on('close', () => {
    found = null;
  });
  const subscriber = connectToFound(address, async () => {
    if (found === null) throw new StoreUnavailableError(`${nameOfRedis(address)} is unavailable.`);
    return found;
  });
  return { redis, subscriber };
}

/**
 * Connections fail fast: a command is sent or refused immediately, and never queued or sent again. (A repeated SET NX would
 * find its own key, and a first use would look like a replay.)
 */
const failFast = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  autoResubscribe: false,
  commandTimeout: commandTimeoutMilliseconds,
  // Detects a connection that is dead but not closed, by the first command without an answer.
  socketTimeout: commandTimeoutMilliseconds,
  disconnectTimeout: disconnectMilliseconds,
};

const connectTo = ({ url }: SingleAddress): Redis =>
  new GatheringRedis(url, {
    ...failFast,
    // After a failover the old primary refuses writes: look again where the address leads.
    reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
    connectTimeout: 2 * commandTimeoutMilliseconds,
    retryStrategy: (attempt) => Math.min(25 * 2 ** attempt, 1000),
  });

/** @param find returns the server to connect to, before each attempt */
function connectToFound(address: LocatedAddress, find: () => Promise<Host>): Redis {
  const { user = null, password = null } = address.credentials ?? {};
  const redis: Redis = new GatheringRedis({
    ...failFast,
    Connector: connectorTo(find, address.tls, () => redis.emit('error', new NamedReplicaError())),
    // After a failover the old primary refuses writes, and a cluster's node names another master: look for it again.
    reconnectOnError: ({ message }: Error) =>
      message.startsWith('READONLY') || (address.kind === 'cluster' && message.startsWith('MOVED')),
    // By this, ioredis knows which event of the socket to wait for.
    ...(address.tls && { tls: {} }),
    ...(user !== null && { username: user }),
    ...(password !== null && { password }),
    db: address.kind === 'sentinel' ? address.database : 0,
    connectTimeout: commandTimeoutMilliseconds,
    retryStrategy: (attempt) => Math.min(25 * 2 ** attempt, maxSearchPause),
  });
  return redis;
}

function searchIn(address: LocatedAddress, key: string): () => Promise<Host> {
  switch (address.kind) {
    case 'sentinel':
      return createMasterSearch(address);
    case 'cluster':
      return createOwnerSearch(address, key);
  }
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

/**
 * Without TLS on its port, Redis does not answer at all; without a required client certificate, it closes the connection.
 * Behind NAT or in a container, a server announces an address that others cannot reach.
 */
function alsoCheck(address: RedisAddress): string {
  const tls = usesTls(address)
    ? ', uses TLS on this port, and requires no client certificates (tls-auth-clients no)'
    : '';
  const named = ', and that the address that they name can be reached from here ("latchkey doctor" shows it)';
  return address.kind === 'single' ? tls : tls + named;
}

/**
 * Waits for the first connection, and checks that it has the URL's user and database, and accepts every key. After a
 * failure the caller disconnects.
 * @throws {StoreUnavailableError} with the hosts, never with the credentials
 */
export async function openConnection(redis: Redis, address: RedisAddress): Promise<void> {
  // The first sentinels or nodes may name a master that is one no more.
  const attempts = address.kind === 'single' ? 1 : address.hosts.length;
  try {
    await untilReady(redis, attempts);
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw error;
    const failure =
      tlsFailureOf(error) ??
      `cannot be used: ${failureOf(error)}. Check REDIS_URL and that the server runs${alsoCheck(address)}`;
    throw new StoreUnavailableError(`${nameOfRedis(address)} ${failure}.`);
  }
  try {
    await requireCredentialsAndDatabase(redis, address);
    if (address.kind === 'cluster') return;
    const isInCluster = (await askInfo(redis, 'cluster'))?.get('cluster_enabled') === '1';
    if (isInCluster && !(await hasAllSlots(redis))) throw partOfCluster(address);
  } catch (error) {
    throw commandError(address, error);
  }
}

/**
 * Connects. The client repeats a failed attempt by itself.
 * @throws {Error} what failed last, after this many attempts, or after a search that has asked everyone
 */
async function untilReady(redis: Redis, attempts: number): Promise<void> {
  let [left, reason] = [attempts, new Error('The connection was closed')];
  redis.on('error', (error: Error) => {
    reason = error;
  });
  await new Promise<void>((resolve, reject) => {
    redis.on('close', () => {
      left -= 1;
      if (left <= 0 || reason instanceof StoreUnavailableError) reject(reason);
    });
    redis.once('ready', resolve);
    redis.connect().catch(() => undefined);
  });
}

/**
 * ioredis ignores a failed SELECT, and would use database 0, which may be another program's. It also ignores that the server
 * requires no password. So both commands are repeated here.
 */
async function requireCredentialsAndDatabase(redis: Redis, address: RedisAddress): Promise<void> {
  const { username, password, db = 0 } = redis.options;
  const refuse = (reason: string) => (error: unknown) => {
    throw new StoreUnavailableError(
      `${nameOfRedis(address)} ${reason} (${failureOf(error)}). Correct REDIS_URL.`,
    );
  };
  if (password) {
    // If the default user has no password, Redis refuses AUTH with one argument, but not with two.
    const isNamed = username && username !== 'default';
    await (isNamed ? redis.auth(username, password) : redis.auth(password)).catch(
      refuse('does not accept the user name and password of REDIS_URL'),
    );
  }
  await redis.select(db).catch((error: unknown) => {
    if (!isUnknownCommand(error)) return refuse(`has no database ${db}`)(error);
    throw new StoreUnavailableError(
      `${nameOfRedis(address)} has no databases: if it is a sentinel, set REDIS_URL to redis+sentinel://.`,
    );
  });
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
