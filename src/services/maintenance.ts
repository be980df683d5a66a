import { ageValidationCounts } from '../db/age-validation-counts.ts';
import type { Database } from '../db/database.ts';
import { deleteInSlices } from '../db/delete-in-slices.ts';
import { sweepDeletedOwners } from '../db/deleted-owners.ts';
import { type LogPartitionUnit, lowestId } from '../db/log-partition.ts';
import { readLogPartitions } from '../db/log-partition-catalog.ts';
import { coveredUntil } from '../db/log-partition-plan.ts';
import { deleteExpiredEntries, dropExpiredLogPartitions, ensureLogPartitions } from '../db/log-partitions.ts';
import { indexAll } from '../db/log-search/index-all.ts';
import { mergeLicenseCountDeltas } from '../db/merge-count-deltas.ts';
import { indexBuilders, type MigrateMode } from '../db/schema-upkeep.ts';
import { tidySearchIndexes } from '../db/search-indexes.ts';
import { analyzeEmbedded, vacuumEmbedded } from '../db/vacuum.ts';
import type { Clock } from '../lib/clock.ts';
import { createFailureLog } from '../lib/failure-log.ts';
import type { Logger } from '../lib/log.ts';
import { pause } from '../lib/pause.ts';
import { createChangePurge, purgeChanges, purgeEvery } from './changes/purge.ts';
import { type EventStats, measureEvents, noEventStats } from './outbox/event-stats.ts';
import { numberAllEvents } from './outbox/number-events.ts';
import { purgeEvents } from './outbox/purge-events.ts';
import { scanExpiry } from './outbox/scan-expiry.ts';
import { createPurgeClock, type PurgeClock } from './purge-clock.ts';

export interface MaintenanceOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
  /** Security log entries older than this are dropped. */
  readonly retentionDays: number;
  /** Default: `week`. */
  readonly logPartitions?: LogPartitionUnit;
  /** With `check`, nothing that needs the owner of the tables is done. Default: `auto`. */
  readonly migrate?: MigrateMode;
  /** Events older than this are purged. */
  readonly eventRetentionDays?: number;
  /** Called with the developers who have new events. */
  readonly onEvents?: (developerIds: readonly string[]) => void;
  /** Where the measurements of events are kept. */
  readonly eventStats?: EventStats;
  /** Delay of the first maintenance after the start. */
  readonly firstAfterMilliseconds?: number;
  /** Determines by which time to delete. Default: a new one. */
  readonly purgeClock?: PurgeClock;
}

/** Builds the indexes that migrations leave for after the start, so that they do not delay it. */
async function buildMissingIndexes(
  { database, log, migrate }: MaintenanceOptions,
  stop: AbortSignal,
): Promise<void> {
  if (migrate === 'check') return;
  for (const build of indexBuilders(database.pool, log, stop)) {
    if (stop.aborted) return;
    try {
      const built = await build();
      if (built.length > 0) log.info({ built }, 'Built indexes');
    } catch (error) {
      if (stop.aborted) log.info('Stopped while building an index; the next start builds it');
      else log.error({ err: error }, 'Indexes could not be built; the next start tries again');
    }
  }
}

const minute = 60 * 1000;
const interval = 6 * 60 * minute;
/**
 * The first maintenance runs soon, because a process may not run for six hours, and at a random time, so that instances
 * started together do not all run it at once.
 */
const firstAfter = () => (1 + 2 * Math.random()) * minute;
/** Short, so that reads have few count deltas to add and few unindexed rows to scan. */
const tidyInterval = minute;
/** Until it is swept, deleted data is invisible but still on disk and in backups. */
const sweepInterval = minute;
/** How late an event of an expiry may be, and an event without a number that nobody reads. */
const eventInterval = minute;
/** Short, because searches scan the part of the log that is not indexed yet. */
const indexInterval = 5 * 1000;

/** Deliveries of webhooks are kept for 30 days. */
const keptDeliveries = 30 * 24 * 60 * minute;

type Step = () => Promise<unknown>;
/** Deletes data that expired before a time. All deletion by time happens here; see purge-clock.ts. */
type Purge = (options: MaintenanceOptions, by: Date) => Promise<unknown>;

/** Purges, with the task names used in log messages. */
const purges: readonly (readonly [task: string, purge: Purge])[] = [
  ['drop log entries past their retention', dropExpiredLog],
  [
    'add up counts of past hours, and delete old ones',
    ({ database }, by) => ageValidationCounts(database.pool, by),
  ],
  [
    "delete developers' expired sessions",
    ({ database }, by) => deleteInSlices(database.pool, 'account_sessions', 'expires_at < $1', by),
  ],
  [
    "delete end users' expired sessions",
    ({ database }, by) => deleteInSlices(database.pool, 'end_user_sessions', 'expires_at < $1', by),
  ],
  [
    'delete leases that have ended',
    // An hour later: until then, a revocation is listed (services/revocation/listed.ts).
    ({ database }, by) =>
      deleteInSlices(database.pool, 'leases', "expires_at < $1::timestamptz - interval '1 hour'", by),
  ],
  [
    'delete answers to repeated requests',
    ({ database }, by) =>
      deleteInSlices(
        database.pool,
        'idempotent_answers',
        "created_at < $1::timestamptz - interval '1 day'",
        by,
      ),
  ],
  [
    'delete old deliveries of webhooks',
    ({ database }, by) =>
      // Those that wait for their webhook to be enabled are kept.
      deleteInSlices(
        database.pool,
        'webhook_deliveries',
        "id < $1 AND status <> 'pending'",
        lowestId(by.getTime() - keptDeliveries),
      ),
  ],
  [
    'delete events past their retention',
    ({ database, eventRetentionDays = 30 }, by) => purgeEvents(database.pool, by, eventRetentionDays),
  ],
  [
    'delete old records of added counts',
    ({ database }, by) => deleteInSlices(database.pool, 'added_counts', 'id < $1', lowestId(by.getTime())),
  ],
  ['delete old change records', ({ database }, by) => purgeChanges(database.pool, by)],
];

async function dropExpiredLog(
  { database, log, retentionDays, migrate }: MaintenanceOptions,
  by: Date,
): Promise<void> {
  if (migrate === 'check') return deleteExpiredEntries(database.pool, by, retentionDays);
  const dropped = await dropExpiredLogPartitions(database.pool, by, retentionDays);
  if (dropped.length > 0) log.info({ dropped }, 'Dropped security log entries past their retention');
}

const week = 7 * 24 * 60 * minute;

/** Creates the coming weeks' partitions, or warns a week before they end if only `latchkey migrate` may create them. */
async function keepPartitionsAhead({ database, clock, log, logPartitions, migrate }: MaintenanceOptions) {
  const now = clock.now();
  if (migrate !== 'check') return ensureLogPartitions(database.pool, new Date(now), logPartitions);
  const until = coveredUntil(now, await readLogPartitions(database.pool));
  if (until >= now + week) return;
  log.warn(
    { until: new Date(until) },
    'The security log has no partitions after this time, and MIGRATE is check: run "latchkey migrate" once a day. Until ' +
      'then, later entries go to the default partition, where they are kept but cost more',
  );
}

/**
 * Creates the coming weeks' log partitions and drops those past the retention. Deletes expired sessions, ended leases, old
 * events and answers, counts that are too old for the metrics (after it has added up those of past hours), and change records that are no longer read. Vacuums an embedded database. Data is
 * deleted only if it expired more than a day ago, by a time that no clock has contradicted since (purge-clock.ts). A
 * failed step is logged; later steps still run.
 * @param stop skips the steps that have not started
 */
export async function maintain(options: MaintenanceOptions, stop?: AbortSignal): Promise<void> {
  const { database, purgeClock = createPurgeClock(options) } = options;
  let by: Date | null = null;
  const steps: readonly (readonly [task: string, step: Step])[] = [
    ["create the coming weeks' log partitions", () => keepPartitionsAhead(options)],
    [
      'determine by which time to purge',
      async () => {
        by = await purgeClock.look();
      },
    ],
    ...purges.map(([task, purge]) => [task, async () => by !== null && purge(options, by)] as const),
    ['vacuum the database', () => vacuumEmbedded(database)],
  ];
  for (const [task, step] of steps) {
    if (stop?.aborted) return;
    try {
      await step();
    } catch (error) {
      options.log.error({ err: error }, `Could not ${task}; the next maintenance tries again`);
    }
  }
}

/** Merges count deltas and pending index entries into their totals, so that reads stay cheap. */
async function tidy(database: Database): Promise<void> {
  await mergeLicenseCountDeltas(database.pool);
  await tidySearchIndexes(database.pool);
  await analyzeEmbedded(database);
}

interface RepeatedTask {
  readonly every: number;
  readonly run: (stop: AbortSignal) => Promise<unknown>;
  /** The log message when it fails. */
  readonly failure: string;
}

/** The time of the database server, which all instances share. An embedded database has that of the process. */
async function sharedNow({ database, clock }: MaintenanceOptions): Promise<Date> {
  if (database.kind !== 'server') return new Date(clock.now());
  const { rows } = await database.pool.query<{ now: Date }>(
    'SELECT clock_timestamp()::timestamptz(3) AS now',
  );
  return rows[0]?.now ?? new Date(clock.now());
}

/** Records the events of licenses that expire. */
async function recordExpiries(options: MaintenanceOptions, stop: AbortSignal): Promise<void> {
  const developerIds = await scanExpiry(options.database.pool, await sharedNow(options), stop);
  if (developerIds.size > 0) options.onEvents?.([...developerIds]);
}

const repeatedTasks = (options: MaintenanceOptions): readonly RepeatedTask[] => {
  const { database } = options;
  return [
    {
      every: tidyInterval,
      run: () => tidy(database),
      failure: 'Counts and search indexes could not be tidied; will try again',
    },
    {
      every: sweepInterval,
      run: (stop) => sweepDeletedOwners(database.pool, stop),
      failure: 'Data of deleted applications and accounts could not be deleted; will try again',
    },
    {
      every: purgeEvery,
      // An embedded database has no other instances, so it records no changes.
      run: database.kind === 'server' ? createChangePurge(database.pool) : async () => undefined,
      failure: 'Old change records could not be deleted; will try again',
    },
    {
      every: indexInterval,
      run: async (stop) => {
        if (await indexAll(database, stop)) await tidySearchIndexes(database.pool);
      },
      failure: 'The log could not be indexed for searches; will try again',
    },
    {
      every: eventInterval,
      run: (stop) => recordExpiries(options, stop),
      failure: 'Events of licenses that expire could not be recorded; will try again',
    },
    {
      every: eventInterval,
      run: async (stop) => {
        await measureEvents(database.pool, options.eventStats ?? noEventStats());
        await numberAllEvents(database.pool, stop);
      },
      failure: 'Events could not be numbered; will try again',
    },
  ];
};

/** Repeats a task, with a pause before each run. */
async function repeat({ every, run, failure }: RepeatedTask, log: Logger, stop: AbortSignal): Promise<void> {
  const failures = createFailureLog();
  while (!stop.aborted) {
    await pause(every, stop);
    if (stop.aborted) return;
    try {
      await run(stop);
      failures.succeeded();
    } catch (error) {
      failures.failed(() => log.error({ err: error }, failure));
    }
  }
}

/**
 * Builds missing indexes now (unless `migrate` is `check`), maintains the database soon and then every six hours, and repeats `repeatedTasks`. Several
 * instances may do so at once. A failure is logged and made up for by the next run: partitions are created weeks ahead,
 * and also when a database is opened. Indexes are built only at startup.
 * @returns a function that stops maintenance after the current run; an index build is aborted
 */
export function startMaintenance(options: MaintenanceOptions): () => Promise<void> {
  const stop = new AbortController();
  const building = buildMissingIndexes(options, stop.signal);
  const maintaining = keepMaintaining(
    { ...options, purgeClock: createPurgeClock(options) },
    building,
    stop.signal,
  );
  const repeated = repeatedTasks(options).map((task) => repeat(task, options.log, stop.signal));
  return async () => {
    stop.abort();
    await Promise.all([building, maintaining, ...repeated]);
  };
}

/** Starts after the index builds, which lock their tables; a build that is itself blocked delays it for one interval at most. */
async function keepMaintaining(
  options: MaintenanceOptions,
  building: Promise<void>,
  stop: AbortSignal,
): Promise<void> {
  const { firstAfterMilliseconds = firstAfter() } = options;
  await pause(firstAfterMilliseconds, stop);
  await Promise.race([building, pause(interval, stop)]);
  while (!stop.aborted) {
    await maintain(options, stop);
    await pause(interval, stop);
  }
}
