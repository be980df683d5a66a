import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { pause } from '../lib/pause.ts';

/** How often a server is asked to break off, in milliseconds: what it hears between two statements it forgets. */
const askEvery = 50;
/** How long it may take to do so. It is less than a service that closes keeps for the last of its parts. */
const patience = 300;

/** Runs one statement. */
export type Run = (sql: string) => Promise<pg.QueryResult>;

/**
 * Works on one connection until it is to stop, and has the statement under way broken off then: it may wait for
 * somebody else's transaction for ever. The server finds the statement by a mark in it and not by its backend, which
 * behind a pool of connections runs another client's statements too.
 * @param pool over which the server is asked
 * @throws {Error} when a statement was broken off, or was not in time: either way the connection is to be closed
 */
export async function cancelOnAbort<Result>(
  pool: pg.Pool,
  client: pg.ClientBase,
  stop: AbortSignal,
  work: (run: Run) => Promise<Result>,
): Promise<Result> {
  const mark = `/* ${randomUUID()} */`;
  const ended = new AbortController();
  const askToBreakOff = async () => {
    while (!ended.signal.aborted) {
      await pool.query(breakOff, [mark]).catch(() => undefined);
      await pause(askEvery, ended.signal);
    }
  };
  const giveUp = async (): Promise<never> => {
    await aborted(stop);
    void askToBreakOff();
    await pause(patience, ended.signal);
    throw new Error('A statement that was to be broken off went on.');
  };
  try {
    return await Promise.race([work((sql) => client.query(`${mark} ${sql}`)), giveUp()]);
  } finally {
    ended.abort();
  }
}

const breakOff = `
  SELECT pg_cancel_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND state = 'active' AND starts_with(query, $1)`;

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
