import { setMaxListeners } from 'node:events';
import type { Pool } from 'pg';
import type { Logger } from '../../lib/log.ts';
import { pause } from '../../lib/pause.ts';
import type { CacheChange } from './cache-change.ts';
import { longestGap, type Position, readChanges } from './read-changes.ts';

/** Knows whether the database answers, and what others have changed in it. */
export interface DatabaseWatch {
  /**
   * True if the cache may be served: the database answered a moment ago, or was found unavailable a moment ago and has not
   * been for too long. It reads two clocks and costs nothing else.
   */
  readonly mayServe: boolean;
  /** Has what others change told to the caches, before anything cached is served again. */
  listen(listener: (changes: readonly CacheChange[] | 'all') => void): void;
  /**
   * Waits until the other instances have had time to read what was committed before: for a change that they could not
   * be told of. Waits of several changes run side by side, and end when the service stops.
   */
  othersHaveLooked(): Promise<void>;
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
/**
 * The longest that a look and its failure take in addition to the beats, in milliseconds. A process that has not looked
 * for longer was suspended, and may have missed a ban that was acknowledged in the meantime.
 */
const longestLook = 3_000;

/** By the monotonic clock, which cannot be set, and by the wall clock, which continues while a machine is suspended. */
interface Moment {
  readonly process: number;
  readonly wall: number;
}

const thisMoment = (): Moment => ({ process: performance.now(), wall: Date.now() });
const never: Moment = { process: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };

/** An embedded database is in the process, and no other process writes to it. */
export const embeddedDatabaseWatch: DatabaseWatch = {
  mayServe: true,
  listen: () => undefined,
  othersHaveLooked: async () => undefined,
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
  // As many changes may wait at once as there are requests.
  setMaxListeners(0, ending.signal);
  let position: Position | null = null;
  let isThere = false;
  /** When the last look began; when the state of the database was last known; when the last answered look began. */
  let begunAt = never;
  let lookedAt = never;
  let answeredAt = never;
  let servedUntil = Number.NEGATIVE_INFINITY;

  const longestSilence = longestLook + 2 * beatMilliseconds;
  const isRecent = ({ process, wall }: Moment): boolean =>
    performance.now() - process < longestSilence && Date.now() - wall < longestSilence;

  async function beat(): Promise<void> {
    const stoodStillBefore = !isRecent(begunAt);
    const now = thisMoment();
    begunAt = now;
    // The monotonic clock stands still while a machine is suspended, and other instances purge in the meantime.
    const gap = Math.max(now.process - answeredAt.process, Math.abs(now.wall - answeredAt.wall));
    const from = gap > longestGap ? null : position;
    try {
      const look = await readChanges(pool, from);
      position = look.position;
      if (look.changes.length > 0) for (const listener of listeners) listener(look.changes);
      if (!isThere && answeredAt.process > 0) log.info('The database is back');
      isThere = true;
      lookedAt = now;
      answeredAt = now;
    } catch (error) {
      // After a suspension, the process finds its query timed out or its connection closed. The next look, on another
      // connection, tells whether the database is unavailable. Until then the cache is not served, because another
      // instance may have recorded a ban.
      if (stoodStillBefore || !isRecent(now)) return;
      if (isThere) {
        log.warn(
          { err: error },
          `The database is away: what is cached is served for ${staleIfDownSeconds} s at most`,
        );
      }
      isThere = false;
      // The time at which this look ended, because the next one may take as long.
      lookedAt = thisMoment();
      servedUntil = answeredAt.process + staleIfDownSeconds * 1000;
    }
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      await pause(beatMilliseconds, ending.signal);
      if (!ending.signal.aborted) await beat();
    }
  }

  await beat();
  const running = run();
  return {
    get mayServe() {
      return isRecent(lookedAt) && (isThere || performance.now() < servedUntil);
    },
    listen: (listener) => void listeners.push(listener),
    // The pause between two looks of theirs, and as long again for the look itself.
    othersHaveLooked: () => pause(2 * beatMilliseconds, ending.signal),
    async close() {
      ending.abort();
      await running;
      await pool.end();
    },
  };
}
