import type { Database } from '../db/database.ts';
import type { Clock } from '../lib/clock.ts';
import { lengthOfTime } from '../lib/length-of-time.ts';
import type { Logger } from '../lib/log.ts';

/** Determines by which time expired data may be deleted. */
export interface PurgeClock {
  /**
   * Records the current time for later runs. Call it once per maintenance run.
   * @returns the time before which expired data may be deleted; null if nothing may be deleted yet
   */
  look(): Promise<Date | null>;
}

export interface PurgeClockOptions {
  readonly database: Pick<Database, 'kind' | 'pool'>;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  /** A monotonic clock, in milliseconds. */
  readonly steady?: () => number;
}

const minute = 60_000;
const day = 24 * 60 * minute;
/** The minimum age of a recorded time before anything is deleted by it. */
const requiredAge = day;

/**
 * A clock that is set ahead by mistake must not delete data that has to be kept. A process cannot know whether its clock is
 * correct, so nothing is deleted by the current time:
 *
 * 1. With a database server, the earlier of the process's clock and the server's clock counts.
 * 2. Each maintenance run records that time in the database. Data is deleted if it expired before a time that was recorded
 *    at least a day ago and that no clock has contradicted since by showing an earlier time. So a step ahead of less than a
 *    day never deletes data that must be kept, and neither does a step of a year if it is corrected within a day.
 * 3. For times that it recorded itself, a process checks with its monotonic clock that a day has passed.
 *
 * Recorded times outlive the process. A service that restarts often uses those of earlier processes, one that runs for an
 * hour a month uses last month's, and one that was off for a year uses today's, tomorrow.
 *
 * Limits: a clock that stays wrong for a day counts as correct. So does a clock that is set ahead, and after a restart set
 * ahead by another day or more. If the database server has its own clock, this happens only if both clocks are wrong.
 */
export function createPurgeClock(options: PurgeClockOptions): PurgeClock {
  const { database, clock, log, steady = () => performance.now() } = options;
  const { pool } = database;
  /** When this process recorded each time, by its monotonic clock. */
  const own = new Map<number, number>();

  async function earlierClock(): Promise<number> {
    const here = clock.now();
    if (database.kind !== 'server') return here;
    const { rows } = await pool.query<{ now: number }>(
      'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now',
    );
    const there = Math.floor(rows[0]?.now ?? here);
    if (Math.abs(here - there) > minute) {
      log.warn(
        `The clock of this machine is ${lengthOfTime(here - there)} ${here > there ? 'ahead of' : 'behind'} the database ` +
          "server's: nothing is purged by the later of the two. Correct the wrong clock.",
      );
    }
    return Math.min(here, there);
  }

  async function warnOfLeap(now: number): Promise<void> {
    const { rows } = await pool.query<{ newest: Date | null }>('SELECT max(at) AS newest FROM clock_notes');
    const newest = rows[0]?.newest?.getTime();
    if (newest === undefined) return;
    if (now - newest > requiredAge) {
      log.warn(
        `According to the clock, the last maintenance was ${lengthOfTime(now - newest)} ago: the service was off, or the ` +
          'clock was set ahead. Data that has expired since then is not purged for another day: if the clock is wrong, ' +
          'correct it now.',
      );
    }
    if (newest - now > minute) {
      log.warn(
        `According to the clock, the last maintenance is ${lengthOfTime(newest - now)} in the future: the clock was set ` +
          'back. Nothing is purged by the time it showed before.',
      );
    }
  }

  return {
    async look() {
      const now = await earlierClock();
      await warnOfLeap(now);
      await pool.query('DELETE FROM clock_notes WHERE at > $1', [new Date(now)]);
      await pool.query('INSERT INTO clock_notes (at) VALUES ($1) ON CONFLICT DO NOTHING', [new Date(now)]);
      const looked = steady();
      own.set(now, looked);
      const { rows } = await pool.query<{ at: Date }>(
        'SELECT at FROM clock_notes WHERE at <= $1 ORDER BY at DESC',
        [new Date(now - requiredAge)],
      );
      const trusted = rows.find(
        ({ at }) => looked - (own.get(at.getTime()) ?? looked - requiredAge) >= requiredAge,
      );
      if (trusted === undefined) return null;
      await pool.query('DELETE FROM clock_notes WHERE at < $1', [trusted.at]);
      for (const at of own.keys()) if (at < trusted.at.getTime()) own.delete(at);
      return trusted.at;
    },
  };
}
