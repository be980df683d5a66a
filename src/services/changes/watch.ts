import { setMaxListeners } from 'node:events';
import type { Database } from '../../db/database.ts';
import type { ServerState } from '../../db/server.ts';
import type { WatchConnection } from '../../db/watch-connection.ts';
import type { Logger } from '../../lib/log.ts';
import { pause } from '../../lib/pause.ts';
import type { Changes } from './change.ts';
import { type Look, longestGap, type Position, readChanges } from './read.ts';
import { createStuckCommits } from './stuck-commits.ts';

/** Tells whether the database server responds, and what other instances have changed. */
export interface Watch {
  /**
   * True if cached values may be served: the server answered a moment ago, or was found unavailable a moment ago and has
   * not been for too long. Costs two reads of a clock.
   */
  readonly mayServe: boolean;
  /** The listener is called with committed changes before anything cached is served again. */
  listen(listener: (changes: Changes) => void): void;
  /**
   * Waits until the other instances have had time to read what has been committed. Several calls can wait at the same time,
   * and all end when the watch is closed.
   */
  waitForOthers(): Promise<void>;
  close(): Promise<void>;
}

export interface WatchOptions {
  readonly connection: WatchConnection;
  /** Is told whether the server is available and confirms writes, so that it can cut its pool. */
  readonly database: Pick<Database, 'isAvailable' | 'noteState' | 'hangUp'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** How long cached values are served while the server is unavailable; 0 to refuse them. */
  readonly staleIfDownSeconds: number;
  readonly beatMilliseconds?: number;
}

/** The pause between two looks. */
const defaultBeat = 250;
/** The same while the server is unavailable. */
const beatWhileUnavailable = 100;
/** How long other instances may take to look, in milliseconds: earlier versions pause half a second between two looks. */
const othersLookWithin = 1_000;
/**
 * The longest that a look and its failure take in addition to the pauses, in milliseconds. A process that has not looked
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

/** Commits that wait for a standby come first: their requests have to be answered. */
function stateOf({ isReadOnly }: Look, stuck: ReadonlySet<number>): ServerState {
  if (stuck.size > 0) return 'unconfirmed';
  return isReadOnly ? 'read-only' : 'writable';
}

/** An embedded database is in the process, and no other process writes to it. */
export const embeddedWatch: Watch = {
  mayServe: true,
  listen: () => undefined,
  waitForOthers: async () => undefined,
  close: async () => undefined,
};

/**
 * Asks a server four times a second what was committed since the last look, and whether it accepts and confirms writes. Without an
 * answer in time, the server counts as unavailable, even if no request has failed.
 * @returns after the first look
 */
export async function startWatch(options: WatchOptions): Promise<Watch> {
  const { connection, database, log, staleIfDownSeconds, beatMilliseconds = defaultBeat } = options;
  const listeners: ((changes: Changes) => void)[] = [];
  const ending = new AbortController();
  // All open requests may wait at the same time.
  setMaxListeners(0, ending.signal);
  const stuckCommits = createStuckCommits();
  let position: Position | null = null;
  let isThere = false;
  /** As of the last answered look. */
  let state: ServerState = 'writable';
  /** When the last look began; when the state of the server was last known; when the last answered look began. */
  let begunAt = never;
  let lookedAt = never;
  let answeredAt = never;
  let servedUntil = Number.NEGATIVE_INFINITY;

  const longestSilence = longestLook + 2 * beatMilliseconds;
  const isRecent = ({ process, wall }: Moment): boolean =>
    performance.now() - process < longestSilence && Date.now() - wall < longestSilence;

  function note(look: Look, begun: Moment): void {
    position = look.position;
    // Before `lookedAt`: nothing that these changes outdate is served again.
    if (look.changes.length > 0) for (const listener of listeners) listener(look.changes);
    if (!isThere && answeredAt !== never) log.info('Database reachable again');
    isThere = true;
    lookedAt = begun;
    answeredAt = begun;
    const stuck = stuckCommits.note(look.waitingCommits, begun.process);
    state = stateOf(look, stuck);
    // Before their connections are closed: what is tried again is then refused.
    database.noteState(state);
    if (stuck.size > 0) database.hangUp(stuck);
  }

  function noteFailure(error: unknown): void {
    if (isThere) {
      log.warn(
        { err: error },
        `Database unreachable; serving cached licenses for up to ${staleIfDownSeconds} s`,
      );
    }
    isThere = false;
    // The time at which this look ended, because the next one may take as long.
    lookedAt = thisMoment();
    servedUntil = answeredAt.process + staleIfDownSeconds * 1000;
  }

  async function beat(): Promise<void> {
    const stoodStillBefore = !isRecent(begunAt);
    const begun = thisMoment();
    begunAt = begun;
    // The monotonic clock stands still while a machine is suspended, and other instances purge in the meantime.
    const gap = Math.max(begun.process - answeredAt.process, Math.abs(begun.wall - answeredAt.wall));
    const after = gap > longestGap ? null : position;
    const answer = await connection.ask((pool) => readChanges(pool, after));
    if (ending.signal.aborted) return;
    if (answer.outcome === 'answered') return note(answer.value, begun);
    // The server is available, even if it does not tell what changed.
    if (answer.outcome === 'refused') database.noteState(state);
    // After a suspension, the process finds its query timed out or its connection closed. The next look tells whether the
    // server is unavailable. Until then nothing cached is served, because another instance may have recorded a ban.
    if (stoodStillBefore || !isRecent(begun)) return;
    if (answer.outcome === 'unavailable') database.noteState('unavailable');
    noteFailure(answer.error);
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      await pause(database.isAvailable() ? beatMilliseconds : beatWhileUnavailable, ending.signal);
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
    waitForOthers: () => pause(othersLookWithin, ending.signal),
    async close() {
      ending.abort();
      await connection.close();
      await running;
    },
  };
}
