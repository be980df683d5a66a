import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';

/** A commit that was on its way when its connection was cut is done, or never, so soon after the server answers. */
const settledAfter = [1_000, 4_000];
const askEvery = 1_000;

/**
 * Invalidates what a commit of unknown fate has invalidations: now and then while the database does not answer, as a server
 * that was held still carries out what it had received when it goes on, however late; and some more times when it
 * does. What is read meanwhile may be from before the commit, and must not stay remembered.
 */
export async function invalidateAfterDoubt(pool: Pool, invalidate: () => Promise<unknown>): Promise<void> {
  do {
    await sleep(askEvery, undefined, { ref: false });
    if (pool.ending) return;
    await invalidate();
  } while (!(await answers(pool)));
  for (const delay of settledAfter) {
    await invalidate();
    await sleep(delay, undefined, { ref: false });
  }
  await invalidate();
}

const answers = (pool: Pool): Promise<boolean> =>
  pool.query('SELECT 1').then(
    () => true,
    () => false,
  );
