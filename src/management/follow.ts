import type { RootFields } from './answer.ts';
import { backoff, pause } from './deadline.ts';
import type { Operation } from './document.ts';
import { isManagementError, type ManagementError } from './errors.ts';
import { openEventStream } from './event-stream.ts';
import { parseTimeout, type Settings } from './options.ts';

/** Variables of a resumable subscription. */
export interface FollowVariables {
  /** The id of the last entry that you have; only later entries are delivered. */
  readonly after?: string | null | undefined;
}

export interface FollowOptions {
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Called after a connection has ended, before the pause that precedes the next one. */
  readonly onReconnect?: ((reconnect: Reconnect) => void) | undefined;
  /** Pause after the first failure; it doubles with each consecutive failure. Default 500. */
  readonly firstPauseMilliseconds?: number | undefined;
  /** Maximum pause. Default 30,000. */
  readonly longestPauseMilliseconds?: number | undefined;
  /** Time without data after which a connection counts as lost; the service sends a keep-alive every 12 s. Default 45,000. */
  readonly silenceMilliseconds?: number | undefined;
}

export interface Reconnect {
  /** The cause; undefined if the service completed the stream. A service that shuts down causes NETWORK. */
  readonly error: ManagementError | undefined;
  /** Number of consecutive connections without an entry. */
  readonly failures: number;
  readonly pauseMilliseconds: number;
}

/** A connection that lasted this long counts as successful, even without an entry. */
const stableMilliseconds = 10_000;

/** If an id is older than the highest one by more than this, in milliseconds, the service's clock was set back. */
const maxEntryDelay = 60_000;

/** Number of delivered ids that are remembered to detect duplicates. */
const rememberedIds = 1_000;

/**
 * Iterates over the entries of a subscription, reconnecting as needed. Each connection resumes after the last delivered
 * entry.
 * @throws {ManagementError} if the service refuses, or if the first connection fails
 */
export async function* follow(
  settings: Settings,
  operation: Operation,
  variables: FollowVariables,
  options: FollowOptions = {},
): AsyncGenerator<unknown, void, undefined> {
  if (operation.kind !== 'subscription')
    throw new TypeError('follow() takes subscriptions only: use request()');
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
    const startedAt = performance.now();
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
        if (position.take(entry)) yield entry.node;
        if (signal.aborted) return;
      }
    } catch (thrown) {
      if (signal.aborted) return;
      if (!isTransient(thrown, connected) || (!connected && failures >= settings.retries)) throw thrown;
      error = thrown;
    } finally {
      signal.removeEventListener('abort', hangUp);
      connection.abort();
    }
    if (performance.now() - startedAt >= stableMilliseconds) failures = 0;
    failures += 1;
    const retryAfter = (error?.retryAfterSeconds ?? 0) * 1000;
    const pauseMilliseconds = Math.max(retryAfter, backoff(failures, firstPause, longestPause));
    onReconnect?.({ error, failures, pauseMilliseconds });
    await pause(pauseMilliseconds, signal).catch(() => undefined);
  }
}

/** Whether reconnecting may help. */
function isTransient(thrown: unknown, connected: boolean): thrown is ManagementError {
  if (isManagementError(thrown, 'NETWORK', 'TIMEOUT', 'UNAVAILABLE', 'RATE_LIMITED')) return true;
  if (!connected) return false;
  // The service may not have noticed yet that the last connection is gone, and a proxy may briefly return any error.
  if (isManagementError(thrown, 'TOO_MANY_SUBSCRIPTIONS')) return true;
  return isManagementError(thrown, 'BAD_ANSWER') && (thrown.status ?? 0) >= 400;
}

/** Tracks which entry to resume after. */
function createPosition(after: string | undefined) {
  let last = after;
  let start: string | undefined;
  const delivered = new Set<string>();
  return {
    /** The id to resume after. */
    after: () => last ?? start,
    /**
     * Before the first entry there is no id to resume after. Ids start with their time (UUIDv7, RFC 9562 §5.7), so an id
     * made from the first response's `Date` takes its place. Entries since then are not lost with the connection.
     */
    opened(milliseconds: number | undefined) {
      if (milliseconds !== undefined) start ??= firstIdOf(milliseconds);
    },
    /**
     * True if this entry is new. Events arrive in the order of their sequence, so the last one is the position. Of entries
     * of the log, the highest id is, because a late entry may arrive after younger ones. A highest id from the future, from
     * before the service's clock was set back, is dropped.
     */
    take({ id, isInSequence }: Entry): boolean {
      if (delivered.has(id)) return false;
      delivered.add(id);
      const [oldest] = delivered;
      if (delivered.size > rememberedIds && oldest !== undefined) delivered.delete(oldest);
      if (isInSequence || last === undefined || id > last || timeOf(last) - timeOf(id) > maxEntryDelay)
        last = id;
      return true;
    },
  };
}

/** The lowest UUIDv7 of a millisecond. */
function firstIdOf(milliseconds: number): string {
  const time = milliseconds.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

/** The timestamp of a UUIDv7, in milliseconds since the Unix epoch. */
const timeOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

interface Entry {
  readonly id: string;
  /** Whether it has a `sequence`: it is an event, and not an entry of the log. */
  readonly isInSequence: boolean;
  readonly node: unknown;
}

/** The value of a subscription's only root field (GraphQL specification §5.2.4.1), and its id. */
function entryOf(result: RootFields): Entry {
  const [node] = Object.values(result);
  if (typeof node === 'object' && node !== null && 'id' in node && typeof node.id === 'string') {
    return { id: node.id, isInSequence: 'sequence' in node, node };
  }
  throw new TypeError('The document must select id, which is needed to resume the subscription');
}
