import type { RootFields } from './answer.ts';
import { backoff, pause } from './deadline.ts';
import type { Operation } from './document.ts';
import { isManagementError, type ManagementError } from './errors.ts';
import { openEventStream } from './event-stream.ts';
import { parseTimeout, type Settings } from './options.ts';

/** What a subscription that can be resumed is asked with. */
export interface FollowVariables {
  /** The id of the last entry that you have; only what came after it is delivered. */
  readonly after?: string | null | undefined;
}

export interface FollowOptions {
  /** Ends the iteration, quietly. */
  readonly signal?: AbortSignal | undefined;
  /** Is told of every connection that ended, before the pause that precedes the next one. */
  readonly onReconnect?: ((reconnect: Reconnect) => void) | undefined;
  /** The pause after the first failure; it doubles with each one in a row. Default 500. */
  readonly firstPauseMilliseconds?: number | undefined;
  /** What the pause grows to. Default 30,000. */
  readonly longestPauseMilliseconds?: number | undefined;
  /** How long a connection may be silent; the service gives a sign of life every 12 s. Default 45,000. */
  readonly silenceMilliseconds?: number | undefined;
}

export interface Reconnect {
  /** Why; undefined when the service completed the stream. One that is shut down breaks it off: NETWORK. */
  readonly error: ManagementError | undefined;
  /** How many connections in a row brought nothing. */
  readonly failures: number;
  readonly pauseMilliseconds: number;
}

/** A connection that lasted this long was a good one, even if it brought nothing. */
const steadyMilliseconds = 10_000;

/** An id that is lower than the highest by more than this, in milliseconds, means that the service's clock was set back. */
const latestEntry = 60_000;

/** How many delivered ids are remembered, in case a server sends one again. */
const rememberedIds = 1_000;

/**
 * The entries of a subscription, over as many connections as it takes. Each connection resumes after the last entry
 * that was delivered.
 * @throws {ManagementError} when the service refuses; before the first connection also when it cannot be reached
 */
export async function* follow(
  settings: Settings,
  operation: Operation,
  variables: FollowVariables,
  options: FollowOptions = {},
): AsyncGenerator<unknown, void, undefined> {
  if (operation.kind !== 'subscription')
    throw new TypeError('Only a subscription is followed: use request()');
  const { signal = new AbortController().signal, onReconnect } = options;
  const firstPause = parseTimeout('firstPauseMilliseconds', options.firstPauseMilliseconds ?? 500);
  const longestPause = parseTimeout('longestPauseMilliseconds', options.longestPauseMilliseconds ?? 30_000);
  const silence = parseTimeout('silenceMilliseconds', options.silenceMilliseconds ?? 45_000);
  const limits = { timeout: settings.timeoutMilliseconds, silence };
  const position = createPosition(variables.after ?? undefined);
  let connected = false;
  let failures = 0;
  while (!signal.aborted) {
    let error: ManagementError | undefined;
    const began = performance.now();
    const connection = new AbortController();
    const hangUp = () => connection.abort(signal.reason);
    signal.addEventListener('abort', hangUp, { once: true });
    try {
      const body = { query: operation.text, variables: { ...variables, after: position.after() } };
      const stream = await openEventStream(settings, body, limits, connection.signal);
      connected = true;
      position.opened(stream.openedAt);
      for await (const result of stream.results()) {
        const entry = entryOf(result);
        failures = 0;
        if (position.take(entry.id)) yield entry.node;
        if (signal.aborted) return;
      }
    } catch (thrown) {
      if (signal.aborted) return;
      if (!isPassing(thrown, connected) || (!connected && failures >= settings.retries)) throw thrown;
      error = thrown;
    } finally {
      signal.removeEventListener('abort', hangUp);
      connection.abort();
    }
    if (performance.now() - began >= steadyMilliseconds) failures = 0;
    failures += 1;
    const asked = (error?.retryAfterSeconds ?? 0) * 1000;
    const pauseMilliseconds = Math.max(asked, backoff(failures, firstPause, longestPause));
    onReconnect?.({ error, failures, pauseMilliseconds });
    await pause(pauseMilliseconds, signal).catch(() => undefined);
  }
}

/** Whether connecting again may help. */
function isPassing(thrown: unknown, connected: boolean): thrown is ManagementError {
  if (isManagementError(thrown, 'NETWORK', 'TIMEOUT', 'UNAVAILABLE', 'RATE_LIMITED')) return true;
  if (!connected) return false;
  // The service may not have noticed yet that the last connection is gone; a proxy may say anything for a moment.
  if (isManagementError(thrown, 'TOO_MANY_SUBSCRIPTIONS')) return true;
  return isManagementError(thrown, 'BAD_ANSWER') && (thrown.status ?? 0) >= 400;
}

/** Where a follower stands. */
function createPosition(given: string | undefined) {
  let last = given;
  let start: string | undefined;
  const delivered = new Set<string>();
  return {
    /** The id to resume after. */
    after: () => last ?? start,
    /**
     * Without an entry there is no id to resume after. The service's ids begin with their time (UUIDv7, RFC 9562 §5.7),
     * so the second of the first answer stands in for one: what happened since is not lost with the connection.
     */
    opened(milliseconds: number | undefined) {
      if (milliseconds !== undefined) start ??= firstIdOf(milliseconds);
    },
    /**
     * True if this entry is new. It is compared with the highest id, because a late entry may come after younger ones. The
     * highest id is dropped if it is from a future that the service's clock has left again.
     */
    take(id: string): boolean {
      if (delivered.has(id)) return false;
      delivered.add(id);
      const [oldest] = delivered;
      if (delivered.size > rememberedIds && oldest !== undefined) delivered.delete(oldest);
      if (last === undefined || id > last || timeOf(last) - timeOf(id) > latestEntry) last = id;
      return true;
    },
  };
}

/** The lowest UUIDv7 of a millisecond. */
function firstIdOf(milliseconds: number): string {
  const time = milliseconds.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

/** The time that an id begins with, in milliseconds. */
const timeOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

/** The one root field that a subscription has (GraphQL specification §5.2.4.1), and its id. */
function entryOf(result: RootFields): { readonly id: string; readonly node: unknown } {
  const [node] = Object.values(result);
  if (typeof node === 'object' && node !== null && 'id' in node && typeof node.id === 'string') {
    return { id: node.id, node };
  }
  throw new TypeError('The document must select id, which the subscription is resumed with');
}
