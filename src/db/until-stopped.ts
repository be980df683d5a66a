import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** How often a server is asked to break off, in milliseconds: what it hears between two statements it forgets. */
const askEvery = 50;
/** How long it may take to do so. It is less than a service that closes keeps for the last of its parts. */
const patience = 300;

/**
 * Works on one connection of a pool until it is to stop, and has the statement under way broken off then: it may wait
 * for somebody else's transaction for ever. A pool of one connection has no other to ask that over; there the statement
 * ends by itself, as nobody else has a transaction.
 * @throws {Error} when a statement was broken off, or was not in time: either way the connection is to be closed
 */
export async function untilStopped<Result>(
  pool: pg.Pool,
  client: pg.PoolClient,
  stop: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  if (pool.options.max === 1) return work();
  const { rows } = await client.query<{ session: number }>('SELECT pg_backend_pid() AS session');
  const ended = new AbortController();
  const askToBreakOff = async () => {
    while (!ended.signal.aborted) {
      await pool.query('SELECT pg_cancel_backend($1)', [rows[0]?.session]).catch(() => undefined);
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
    return await Promise.race([work(), giveUp()]);
  } finally {
    ended.abort();
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Waits, or until the signal. */
const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, { signal }).catch(() => undefined);
