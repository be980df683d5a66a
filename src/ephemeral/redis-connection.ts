import { Redis } from 'ioredis';
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

/**
 * A connection as the rate limiter uses it. Each time that it counts, that begins a transaction and sends none of it,
 * at the cost of a command: here one begins with its first command.
 */
export const limiterConnection = (redis: Redis) => ({
  get status() {
    return redis.status;
  },
  defineCommand(name: string, definition: Parameters<Redis['defineCommand']>[1]): void {
    redis.defineCommand(name, definition);
    Object.assign(this, { [name]: Reflect.get(redis, name).bind(redis) });
  },
  multi: () => ({ get: (key: string) => redis.multi().get(key) }),
});

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
    throw new StoreUnavailableError(
      `Redis at ${redisAddress(url)} cannot be used: ${failureOf(reason ?? error)}. Check REDIS_URL and that the server runs.`,
    );
  }
  try {
    await requireCredentialsAndDatabase(redis, url);
  } catch (error) {
    redis.disconnect();
    throw error;
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
