import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Logger } from '../../lib/log.ts';
import type { CacheChange } from './cache-change.ts';
import { type Position, purgeChanges, readChanges } from './read-changes.ts';

/** Knows whether the database answers, and what others have changed in it. */
export interface DatabaseWatch {
  /**
   * Whether what is cached may be served: the database answered a moment ago, or is not away for too long. It costs a
   * property read while the database answers.
   */
  readonly mayServe: boolean;
  /** Has what others change told to the caches, before anything cached is served again. */
  listen(listener: (changes: readonly CacheChange[] | 'all') => void): void;
  close(): Promise<void>;
}

export interface DatabaseWatchOptions {
  /** A connection of its own: a pool that is exhausted by work is no sign of an outage. */
  readonly pool: Pool;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** How long what is cached is served while the database is away. 0: not at all. */
  readonly staleIfDownSeconds: number;
  readonly beatMilliseconds?: number;
}

/** How often the database is asked: so late, at most, another instance's change is seen when Redis lost its message. */
const defaultBeat = 500;
/** Changes are kept for an hour; who was away for so long that some may be gone forgets everything. */
const longestGap = 10 * 60 * 1000;
const purgeEvery = 10 * 60 * 1000;

/** An embedded database is in the process, and nobody else writes to it. */
export const embeddedDatabaseWatch: DatabaseWatch = {
  mayServe: true,
  listen: () => undefined,
  close: async () => undefined,
};

/**
 * Asks the database twice a second what has been committed since. Every answer says that it is there; a failure, or
 * none within the pool's time limits, says that it is away, also where no request would have noticed.
 * @returns after the first answer, or failure to answer
 */
export async function startDatabaseWatch(options: DatabaseWatchOptions): Promise<DatabaseWatch> {
  const { pool, log, staleIfDownSeconds, beatMilliseconds = defaultBeat } = options;
  const listeners: ((changes: readonly CacheChange[] | 'all') => void)[] = [];
  const ending = new AbortController();
  let position: Position | null = null;
  let isThere = false;
  /** When the last question that was answered was asked; by the process's own clock, which nobody sets. */
  let knownAt = Number.NEGATIVE_INFINITY;
  let servedUntil = Number.NEGATIVE_INFINITY;
  let purgedAt = performance.now();

  async function beat(): Promise<void> {
    const askedAt = performance.now();
    const from = askedAt - knownAt > longestGap ? null : position;
    try {
      const look = await readChanges(pool, from);
      position = look.position;
      if (look.changes.length > 0) for (const listener of listeners) listener(look.changes);
      if (!isThere && knownAt > 0) log.info('The database is back');
      isThere = true;
      knownAt = askedAt;
    } catch (error) {
      if (isThere) {
        log.warn(
          { err: error },
          `The database is away: what is cached is served for ${staleIfDownSeconds} s at most`,
        );
      }
      isThere = false;
      servedUntil = knownAt + staleIfDownSeconds * 1000;
      return;
    }
    if (askedAt - purgedAt > purgeEvery) {
      purgedAt = askedAt;
      await purgeChanges(pool).catch(() => undefined);
    }
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      await sleep(beatMilliseconds, undefined, { ref: false, signal: ending.signal }).catch(() => undefined);
      if (!ending.signal.aborted) await beat();
    }
  }

  await beat();
  const running = run();
  return {
    get mayServe() {
      return isThere || performance.now() < servedUntil;
    },
    listen: (listener) => void listeners.push(listener),
    async close() {
      ending.abort();
      await running;
      await pool.end();
    },
  };
}
