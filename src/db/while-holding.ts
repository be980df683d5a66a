import type pg from 'pg';
import { pause } from '../lib/pause.ts';
import { tryLock } from './advisory-locks.ts';
import { inTransaction } from './in-transaction.ts';
import { allowIdleTransaction } from './session-settings.ts';

/** Interval of queries on the lock's connection, in milliseconds: less than its idle timeout (`allowIdleTransaction`). */
const keepAliveMilliseconds = 5_000;
const begin = `BEGIN; ${allowIdleTransaction}`;

/**
 * Runs work on other connections while an otherwise idle transaction holds an advisory lock. That transaction has no
 * snapshot between its statements, so not even a concurrent index build waits for it.
 * @param work gets a signal that is aborted when the lock is lost, for example with its connection
 * @returns false if another session holds the lock
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

/** A server or a pooler ends a transaction that is idle for too long. */
async function keepUsing(holder: pg.ClientBase, done: AbortSignal): Promise<void> {
  for (;;) {
    await pause(keepAliveMilliseconds, done);
    if (done.aborted) return;
    await holder.query('SELECT');
  }
}
