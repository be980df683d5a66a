import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { pause } from '../lib/pause.ts';
import { createOpenSockets } from './open-sockets.ts';
import { createPool } from './pool.ts';
import { requestLimits } from './session-settings.ts';

/**
 * A server that does not answer for this long is unavailable, in milliseconds. With the pause before the question, and
 * the second that a silent Redis may take, a request still ends within three seconds.
 */
const patienceMilliseconds = 1_250;

/** What a server said to a question. */
export type WatchAnswer<Value> =
  | { readonly outcome: 'answered'; readonly value: Value }
  /** `refused`: the server responded with an error, for example because it has no connection left. */
  | { readonly outcome: 'refused' | 'unavailable'; readonly error: unknown };

/** One connection to a server, separate from the pool: a busy pool is not an outage. */
export interface WatchConnection {
  /**
   * Asks a question of one statement. Never rejects.
   * @param question repeated if the connection was lost: an administrator may have ended it
   */
  ask<Value>(question: (pool: pg.Pool) => Promise<Value>): Promise<WatchAnswer<Value>>;
  /** Hangs up. A question under way is answered with `unavailable`. */
  close(): Promise<void>;
}

export function createWatchConnection(url: string, log: Logger): WatchConnection {
  const sockets = createOpenSockets();
  const pool = createPool(
    {
      connectionString: url,
      application_name: 'latchkey-watch',
      max: 1,
      idleTimeoutMillis: 0,
      stream: sockets.open,
    },
    log,
    requestLimits,
  );

  function hangUp(): void {
    sockets.refuse('The server did not answer the watch.');
    sockets.admit();
  }

  async function ask<Value>(
    question: (pool: pg.Pool) => Promise<Value>,
    mayRetry = pool.totalCount > 0,
  ): Promise<WatchAnswer<Value>> {
    const answer = await within(patienceMilliseconds, question(pool));
    if (answer.outcome === 'answered' || answer.outcome === 'refused') return answer;
    hangUp();
    if (answer.outcome === 'lost' && mayRetry) return ask(question, false);
    return { outcome: 'unavailable', error: answer.error };
  }

  return {
    ask: (question) => ask(question),
    async close() {
      const ended = pool.end();
      hangUp();
      await ended;
    },
  };
}

type Attempt<Value> = WatchAnswer<Value> | { readonly outcome: 'lost' | 'silence'; readonly error: unknown };

/** Waits for an answer. One that arrived in time counts even if this process was too busy to read it in time. */
async function within<Value>(milliseconds: number, asked: Promise<Value>): Promise<Attempt<Value>> {
  const limit = new AbortController();
  const answer = asked.then(
    (value): Attempt<Value> => ({ outcome: 'answered', value }),
    (error: unknown): Attempt<Value> => ({ outcome: isRefusal(error) ? 'refused' : 'lost', error }),
  );
  const silence = pause(milliseconds, limit.signal)
    .then(() => setImmediate())
    .then((): Attempt<Value> => ({ outcome: 'silence', error: new Error('The server did not answer.') }));
  try {
    return await Promise.race([answer, silence]);
  } finally {
    limit.abort();
  }
}

/** A server that starts, stops or recovers (57P01 to 57P03), or loses its clients (08), is unavailable. */
const isRefusal = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && !/^(57P0[123]|08...)$/.test(error.code ?? '');
