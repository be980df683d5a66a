import { setTimeout as sleep } from 'node:timers/promises';
import { buildIndexes } from '../db/build-indexes.ts';
import type { Database } from '../db/database.ts';
import { dropOldValidationCounts, foldLicenseCounts } from '../db/fold-counts.ts';
import { listIndexes } from '../db/list-indexes.ts';
import { buildLogIndexes } from '../db/log-indexes.ts';
import { dropExpiredLogPartitions, ensureLogPartitions } from '../db/log-partitions.ts';
import { gatherAll } from '../db/log-search/gather-all.ts';
import { buildSearchIndexes, tidySearchIndexes } from '../db/search-indexes.ts';
import { analyzeEmbedded, vacuumEmbedded } from '../db/vacuum.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';

export interface MaintenanceOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
  /** Security log entries older than this are dropped (interface, "Data protection notes"). */
  readonly retentionDays: number;
}

/** Those that a migration leaves to the time after the start, so that nobody waits for them. */
async function buildMissingIndexes({ database, log }: MaintenanceOptions): Promise<void> {
  const builders = [
    () => buildLogIndexes(database.pool),
    () => buildIndexes(database.pool, listIndexes),
    () => buildSearchIndexes(database.pool, log),
  ];
  for (const build of builders) {
    try {
      const built = await build();
      if (built.length > 0) log.info({ built }, 'Built indexes');
    } catch (error) {
      log.error({ err: error }, 'Indexes could not be built; the next start tries again');
    }
  }
}

const interval = 6 * 60 * 60 * 1000;
/** So that there is never much to sum up beside the counts, or to look through beside an index. */
const tidyInterval = 60 * 1000;
/** What of the log is not gathered is read through by searches. */
const gatherInterval = 5 * 1000;

/**
 * Makes the coming weeks' log partitions and drops those past the retention, deletes end users' sessions that are over
 * and counts that are too old for any figure, and vacuums an embedded database.
 */
export async function maintain({ database, clock, log, retentionDays }: MaintenanceOptions): Promise<void> {
  const now = new Date(clock.now());
  await ensureLogPartitions(database.pool, now);
  const dropped = await dropExpiredLogPartitions(database.pool, now, retentionDays);
  if (dropped.length > 0) log.info({ dropped }, 'Dropped security log entries past their retention');
  await dropOldValidationCounts(database.pool, now);
  await database.prisma.endUserSession.deleteMany({ where: { expiresAt: { lt: now } } });
  await vacuumEmbedded(database);
}

/** Brings together what was only noted when it was written, so that reading it stays cheap. */
async function tidy(database: Database): Promise<void> {
  await foldLicenseCounts(database.pool);
  await tidySearchIndexes(database.pool);
  await analyzeEmbedded(database);
}

/**
 * Builds what indexes are missing now, maintains the database every six hours, tidies counts and indexes every minute,
 * and gathers what searches of the log are to find every few seconds. It renews an embedded database's statistics every
 * minute. Several instances may do so at once. A failure is logged, and the next turn makes up for it: partitions are
 * weeks ahead, and a database that is opened makes them too. Indexes are built at a start alone.
 * @returns stops it, after the turn under way
 */
export function startMaintenance(options: MaintenanceOptions): () => Promise<void> {
  let underWay = buildMissingIndexes(options);
  let folding: Promise<unknown> = Promise.resolve();
  const maintaining = setInterval(() => {
    underWay = maintain(options).catch((error: unknown) => {
      options.log.error({ err: error }, 'The database could not be maintained; will try again');
    });
  }, interval);
  const counting = setInterval(() => {
    folding = tidy(options.database).catch((error: unknown) => {
      options.log.error({ err: error }, 'Counts and search indexes could not be tidied; will try again');
    });
  }, tidyInterval);
  maintaining.unref();
  counting.unref();
  const stopGathering = startGathering(options);
  return async () => {
    clearInterval(maintaining);
    clearInterval(counting);
    await Promise.all([underWay, folding, stopGathering()]);
  };
}

/** One turn after another, each a few seconds after the last. */
function startGathering({ database, log }: MaintenanceOptions): () => Promise<void> {
  const stop = new AbortController();
  const gathering = (async () => {
    while (!stop.signal.aborted) {
      await sleep(gatherInterval, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
      try {
        if (await gatherAll(database, stop.signal)) await tidySearchIndexes(database.pool);
      } catch (error) {
        log.error({ err: error }, 'The log could not be gathered for searches; will try again');
      }
    }
  })();
  return () => {
    stop.abort();
    return gathering;
  };
}
