import type { Pool } from 'pg';
import { dropExpiredLogPartitions, ensureLogPartitions } from '../../db/log-partitions.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';

export interface LogMaintenanceOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Logger;
  /** Entries older than this are dropped (interface, "Data protection notes"). */
  readonly retentionDays: number;
}

const interval = 6 * 60 * 60 * 1000;

/** Makes the coming weeks' partitions and drops those past the retention, once. */
export async function maintainLog({ pool, clock, log, retentionDays }: LogMaintenanceOptions): Promise<void> {
  const now = new Date(clock.now());
  await ensureLogPartitions(pool, now);
  const dropped = await dropExpiredLogPartitions(pool, now, retentionDays);
  if (dropped.length > 0) log.info({ dropped }, 'Dropped security log entries past their retention');
}

/**
 * Maintains the log at start and every six hours. Several instances may do so at once. A failure is logged, and the
 * next turn makes up for it: partitions are weeks ahead.
 * @returns stops it, after the turn under way
 */
export function startLogMaintenance(options: LogMaintenanceOptions): () => Promise<void> {
  let underWay = Promise.resolve();
  const turn = () => {
    underWay = maintainLog(options).catch((error: unknown) => {
      options.log.error({ err: error }, 'The security log could not be maintained; will try again');
    });
  };
  const timer = setInterval(turn, interval);
  timer.unref();
  turn();
  return async () => {
    clearInterval(timer);
    await underWay;
  };
}
