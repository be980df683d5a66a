import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { createUseRecorder, type UseRecorder } from '../use-recorder.ts';

/** A session is written at most this often: what is shown is accurate to the minute. */
const accuracyMilliseconds = 60_000;

/** Whether a stored time is so old, or so far ahead because a clock was wrong, that the use is to be recorded. */
export const isOutdated = (lastSeenAt: Date, now: number): boolean =>
  Math.abs(now - lastSeenAt.getTime()) >= accuracyMilliseconds;

/** Records when sessions were last seen. */
export const createSessionUseRecorder = (
  database: Pick<Database, 'pool'>,
  clock: Clock,
  log: Logger,
): UseRecorder =>
  createUseRecorder(database, clock, log, {
    update: `
      UPDATE account_sessions SET last_seen_at = used.at
      FROM unnest($1::uuid[], $2::timestamptz[]) AS used (id, at)
      WHERE account_sessions.id = used.id AND
        (last_seen_at BETWEEN used.at AND used.at + interval '1 hour') IS NOT TRUE`,
    failure: 'The use of sessions could not be written',
  });
