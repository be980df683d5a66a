import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { pause } from '../lib/pause.ts';

/** Interval of cancel requests, in milliseconds. A request that arrives between two statements has no effect. */
const retryMilliseconds = 50;
/** How long to wait for the cancellation, in milliseconds: less than the service reserves for its last cleanup steps. */
const timeoutMilliseconds = 300;

/** Runs one statement. */
export type Run = (sql: string) => Promise<pg.QueryResult>;

/**
 * Runs work on one connection, and cancels its current statement when `stop` is aborted: the statement may otherwise wait
 * for another transaction without limit. The statement is identified by a mark in its text, not by its backend: behind a
 * pooler the backend also runs statements of other clients.
 * @param pool connections for the cancel requests
 * @throws {Error} when a statement was cancelled, or did not end in time. Close the connection in both cases.
 */
export async function cancelOnAbort<Result>(
  pool: pg.Pool,
  client: pg.ClientBase,
  stop: AbortSignal,
  work: (run: Run) => Promise<Result>,
): Promise<Result> {
  const mark = `/* ${randomUUID()} */`;
  const ended = new AbortController();
  const cancelUntilEnded = async () => {
    while (!ended.signal.aborted) {
      await pool.query(cancelStatement, [mark]).catch(() => undefined);
      await pause(retryMilliseconds, ended.signal);
    }
  };
  const giveUp = async (): Promise<never> => {
    await aborted(stop);
    void cancelUntilEnded();
    await pause(timeoutMilliseconds, ended.signal);
    throw new Error(`A statement did not end within ${timeoutMilliseconds} ms of its cancellation.`);
  };
  try {
    return await Promise.race([work((sql) => client.query(`${mark} ${sql}`)), giveUp()]);
  } finally {
    ended.abort();
  }
}

const cancelStatement = `
  SELECT pg_cancel_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND state = 'active' AND starts_with(query, $1)`;

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
