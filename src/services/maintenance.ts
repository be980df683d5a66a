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
import { purgeChanges } from './coherence/read-changes.ts';

export interface MaintenanceOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
  /** Security log entries older than this are dropped (interface, "Data protection notes"). */
  readonly retentionDays: number;
  /** How long after the start the database is maintained first. */
  readonly firstAfterMilliseconds?: number;
}

/** Those that a migration leaves to the time after the start, so that nobody waits for them. */
async function buildMissingIndexes({ database, log }: MaintenanceOptions, stop: AbortSignal): Promise<void> {
  const builders = [
    () => buildLogIndexes(database.pool, stop),
    () => buildIndexes(database.pool, listIndexes, stop),
    () => buildSearchIndexes(database.pool, log, stop),
  ];
  for (const build of builders) {
    if (stop.aborted) return;
    try {
      const built = await build();
      if (built.length > 0) log.info({ built }, 'Built indexes');
    } catch (error) {
      if (stop.aborted) log.info('Stopped within the building of an index; the next start builds it');
      else log.error({ err: error }, 'Indexes could not be built; the next start tries again');
    }
  }
}

const minute = 60 * 1000;
const interval = 6 * 60 * minute;
/** Soon, as a process may not live for six hours; at random, so that those started together do not all work at once. */
const firstAfter = () => (1 + 2 * Math.random()) * minute;
/** So that there is never much to sum up beside the counts, or to look through beside an index. */
const tidyInterval = minute;
/** What of the log is not gathered is read through by searches. */
const gatherInterval = 5 * 1000;

type Step = (options: MaintenanceOptions, now: Date) => Promise<unknown>;

/** By what the log says when one fails. */
const steps: readonly (readonly [task: string, step: Step])[] = [
  ["make the coming weeks' log partitions", ({ database }, now) => ensureLogPartitions(database.pool, now)],
  ['drop log entries past their retention', dropExpiredLog],
  ['delete old counts', ({ database }, now) => dropOldValidationCounts(database.pool, now)],
  [
    "delete end users' sessions that are over",
    ({ database }, now) => database.prisma.endUserSession.deleteMany({ where: { expiresAt: { lt: now } } }),
  ],
  ['delete old notes of changes', ({ database }) => purgeChanges(database.pool)],
  ['vacuum the database', ({ database }) => vacuumEmbedded(database)],
];

async function dropExpiredLog(
  { database, log, retentionDays }: MaintenanceOptions,
  now: Date,
): Promise<void> {
  const dropped = await dropExpiredLogPartitions(database.pool, now, retentionDays);
  if (dropped.length > 0) log.info({ dropped }, 'Dropped security log entries past their retention');
}

/**
 * Makes the coming weeks' log partitions and drops those past the retention, deletes end users' sessions that are over,
 * counts that are too old for any figure and notes of changes that nobody reads any more, and vacuums an embedded
 * database. A step that fails is logged, and holds up none behind it.
 * @param stop leaves out what has not begun
 */
export async function maintain(options: MaintenanceOptions, stop?: AbortSignal): Promise<void> {
  const now = new Date(options.clock.now());
  for (const [task, step] of steps) {
    if (stop?.aborted) return;
    try {
      await step(options, now);
    } catch (error) {
      options.log.error({ err: error }, `Could not ${task}; the next maintenance tries again`);
    }
  }
}

/** Brings together what was only noted when it was written, so that reading it stays cheap. */
async function tidy(database: Database): Promise<void> {
  await foldLicenseCounts(database.pool);
  await tidySearchIndexes(database.pool);
  await analyzeEmbedded(database);
}

/**
 * Builds what indexes are missing now, maintains the database soon and every six hours, tidies counts and indexes every
 * minute, and gathers what searches of the log are to find every few seconds. It renews an embedded database's
 * statistics every minute. Several instances may do so at once. A failure is logged, and the next turn makes up for it:
 * partitions are weeks ahead, and a database that is opened makes them too. Indexes are built at a start alone.
 * @returns stops it, after the turn under way; the building of an index is broken off
 */
export function startMaintenance(options: MaintenanceOptions): () => Promise<void> {
  const stopBuilding = new AbortController();
  const building = buildMissingIndexes(options, stopBuilding.signal);
  const stopMaintaining = startMaintaining(options, building);
  let folding: Promise<unknown> = Promise.resolve();
  const counting = setInterval(() => {
    folding = tidy(options.database).catch((error: unknown) => {
      options.log.error({ err: error }, 'Counts and search indexes could not be tidied; will try again');
    });
  }, tidyInterval);
  counting.unref();
  const stopGathering = startGathering(options);
  return async () => {
    clearInterval(counting);
    stopBuilding.abort();
    await Promise.all([building, stopMaintaining(), folding, stopGathering()]);
  };
}

/** Behind the building of indexes, which locks their tables; one that waits for others does not hold it up for ever. */
function startMaintaining(options: MaintenanceOptions, building: Promise<void>): () => Promise<void> {
  const { firstAfterMilliseconds = firstAfter() } = options;
  const stop = new AbortController();
  const maintaining = (async () => {
    await pause(firstAfterMilliseconds, stop.signal);
    await Promise.race([building, pause(interval, stop.signal)]);
    while (!stop.signal.aborted) {
      await maintain(options, stop.signal);
      await pause(interval, stop.signal);
    }
  })();
  return () => {
    stop.abort();
    return maintaining;
  };
}

/** One turn after another, each a few seconds after the last. */
function startGathering({ database, log }: MaintenanceOptions): () => Promise<void> {
  const stop = new AbortController();
  const gathering = (async () => {
    while (!stop.signal.aborted) {
      await pause(gatherInterval, stop.signal);
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

/** Waits, or until the signal; keeps no process alive. */
const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
