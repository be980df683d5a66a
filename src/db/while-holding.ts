import type pg from 'pg';
import { pause } from '../lib/pause.ts';
import { tryLock } from './advisory-locks.ts';
import { inTransaction } from './in-transaction.ts';
import { holdOn } from './session-settings.ts';

/** How often the lock's connection is used, in milliseconds, before the server gives up on it (`holdOn`). */
const beatEvery = 5_000;
const begin = `BEGIN; ${holdOn}`;

/**
 * Works, on other connections, while a transaction that does nothing else holds an advisory lock. It has no snapshot
 * between its statements, so that not even the building of an index waits for it.
 * @param work told when the lock is lost, as with its connection
 * @returns false when another holds the lock
 */
export const whileHolding = (
  pool: pg.Pool,
  key: number,
  work: (lost: AbortSignal) => Promise<void>,
): Promise<boolean> =>
  inTransaction(
    pool,
    async (holder) => {
      if (!(await tryLock(holder, key))) return false;
      const [done, lost] = [new AbortController(), new AbortController()];
      const holding = keepUsing(holder, done.signal).catch(() => lost.abort());
      try {
        await work(lost.signal);
      } finally {
        done.abort();
        await holding;
      }
      return true;
    },
    begin,
  );

/** A server, and a pool of connections before it, end a transaction that stays idle for long. */
async function keepUsing(holder: pg.ClientBase, done: AbortSignal): Promise<void> {
  for (;;) {
    await pause(beatEvery, done);
    if (done.aborted) return;
    await holder.query('SELECT');
  }
}
