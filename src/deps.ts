import type { Config } from './config.ts';
import { createTicketSealer } from './crypto/session-ticket.ts';
import { type Database, openDatabase } from './db/database.ts';
import { readInstallationId } from './db/installation.ts';
import { asStartError } from './db/refused-statement.ts';
import { createWatchConnection } from './db/watch-connection.ts';
import { createMemoryStore } from './ephemeral/memory.ts';
import { createRedisStore } from './ephemeral/redis.ts';
import { createReplayGuard } from './ephemeral/replay-guard.ts';
import type { EphemeralStore } from './ephemeral/store.ts';
import { type Clock, systemClock } from './lib/clock.ts';
import { openCountryDatabase } from './lib/country-database.ts';
import { createFairQueue } from './lib/fair-queue.ts';
import { createLogger, type Logger } from './lib/log.ts';
import { createSessionUseRecorder } from './services/account-session/note-use.ts';
import { createApiKeyUseRecorder } from './services/api-key/note-use.ts';
import { openKeyring } from './services/application/open-keyring.ts';
import { createChangeFeed } from './services/changes/changes.ts';
import { embeddedWatch, startWatch, type Watch } from './services/changes/watch.ts';
import { createServiceCaches } from './services/client-session/caches.ts';
import { startClockWatch } from './services/clock-watch.ts';
import type { ServiceEnvironment } from './services/context.ts';
import {
  createDeveloperTurns,
  maxWaits,
  tooManyChanges,
  tooManyReads,
  turnLimits,
} from './services/developer-turns.ts';
import { createEndedSessions } from './services/ended-sessions.ts';
import { createExportSlots } from './services/export-slots.ts';
import { startMaintenance } from './services/maintenance.ts';
import { metricFamilies } from './services/metric-families.ts';
import { noEventStats } from './services/outbox/event-stats.ts';
import { createReadiness, type Readiness } from './services/readiness.ts';
import { createSecurityLogFeed } from './services/security-log/feed.ts';
import { createSecurityLogWriter } from './services/security-log/writer.ts';
import { createServiceCounts } from './services/service-counts.ts';
import { keepServiceKeysFresh } from './services/service-key/keep-fresh.ts';
import { createServiceKeyRing } from './services/service-key/ring.ts';
import { createUnreadAnswers } from './services/unread-answers.ts';
import { startWebhookEngine } from './services/webhook/engine.ts';
import type { ResolveHost } from './services/webhook/resolve.ts';
import { createTelemetry, type Telemetry } from './telemetry/telemetry.ts';

/** Everything that is opened at start, and closed at the end. */
export interface Deps {
  readonly config: Config;
  readonly log: Logger;
  readonly services: ServiceEnvironment;
  /** Looks up a client's country; null without a database of countries. */
  readonly countryOfIp: ((ip: string) => string | null) | null;
  readonly telemetry: Telemetry;
  readonly readiness: Readiness;
  /**
   * Writes what is waiting, then closes in the reverse order of opening, all of it even when some fails.
   * @param deadline when closing must be done, in terms of `performance.now()`
   * @throws {Error} the first failure
   */
  close(deadline?: number): Promise<void>;
}

export interface DepsOptions {
  /** Tests stop it or step it. */
  readonly clock?: Clock;
  readonly log?: Logger;
  /** Tests replace it, to reuse databases that they have emptied. */
  readonly openDatabase?: typeof openDatabase;
  /** Tests replace DNS. */
  readonly resolveHost?: ResolveHost;
  /** Called when a part that the service needs has died. */
  readonly onFatal?: ((error: Error) => void) | undefined;
}

/** Each may have ten thousand keys in memory and take a few seconds. */
const maxMintsWaiting = 20;

/** A lease takes a few milliseconds, and one of the ten connections of the pool. */
const maxLeasesAtOnce = 2;
const maxLeasesWaiting = 500;

/** Entries of the log in one transaction: an embedded database answers no one else meanwhile. */
const largestLogBatch = { server: 2_000, embedded: 1_000 } as const;

/** How long the other parts may take to close once the log is written, in milliseconds. */
const closingMilliseconds = 500;

/**
 * Opens the database, the ephemeral store and the keyring. When one fails, those before it are closed again.
 * @throws {DatabaseStartError | StoreUnavailableError | MasterSecretError | PrivateKeyUnreadableError}
 */
export async function createDeps(config: Config, options: DepsOptions = {}): Promise<Deps> {
  const { clock = systemClock, log = createLogger(config.logLevel), onFatal } = options;
  const { openDatabase: open = openDatabase, resolveHost } = options;
  const closers: ((deadline?: number) => Promise<void>)[] = [];
  const close = async (deadline?: number): Promise<void> => {
    const failures: unknown[] = [];
    for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) {
      await closer(deadline).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  };
  try {
    const countryOfIp =
      config.geoipDatabase === null ? null : await openCountryDatabase(config.geoipDatabase);
    const database = await open(config.database, {
      log,
      maxConnections: config.databaseConnections,
      logPartitions: config.logPartitions,
      migrate: config.migrate,
      ...(onFatal && { onFatal }),
    });
    const watch = await watchDatabase(config, database, log);
    // The watch last: while the pool ends, it cuts the connections to a server that does not answer.
    closers.push(() => database.close().finally(() => watch.close()));
    // After the database is open: its lock keeps a second process from making a second secret.
    const keyring = await openKeyring(config, database.pool);

    const store = await openStore(config, database, { clock, log });
    closers.push(() => store.close());
    const changes = createChangeFeed({ database, store, watch, log });
    const { logRetentionDays: retentionDays, eventRetentionDays, logPartitions } = config;
    closers.push(startClockWatch({ clock, log }));
    const eventStats = noEventStats();
    const onEvents = (developerIds: readonly string[]) => void changes.tellAndRecord('log', developerIds);
    closers.push(
      startMaintenance({
        database,
        clock,
        log,
        retentionDays,
        logPartitions,
        migrate: config.migrate,
        eventRetentionDays,
        onEvents,
        eventStats,
      }),
    );
    const securityLogFeed = createSecurityLogFeed({
      changes,
      shared: database.kind === 'server',
      oldestWaiting: () => securityLog.oldestWaiting,
    });
    const securityLog = createSecurityLogWriter({
      pool: database.pool,
      log,
      clock,
      bufferSeconds: config.logBufferSeconds,
      largestBatch: largestLogBatch[database.kind === 'server' ? 'server' : 'embedded'],
      thinned: config.logRepeats === 'hourly',
      onWritten: (topics) => void changes.tellAndRecord('log', [...topics]),
    });
    closers.push((deadline) =>
      securityLog.close(deadline === undefined ? undefined : deadline - closingMilliseconds),
    );
    closers.push(async () => securityLogFeed.close());

    const serviceKeys = createServiceKeyRing({ pool: database.pool, keyring, store });
    closers.push(keepServiceKeysFresh(serviceKeys, log));

    const apiKeyUse = createApiKeyUseRecorder(database, clock, log);
    closers.push(() => apiKeyUse.close());
    const sessionUse = createSessionUseRecorder(database, clock, log);
    closers.push(() => sessionUse.close());

    const limitsOf = (kind: keyof typeof maxWaits) =>
      turnLimits(database.kind, config.databaseConnections, maxWaits[kind]);
    const caches = createServiceCaches({
      pool: database.pool,
      keyring,
      mayServe: () => changes.mayServe,
      maxLicenses: config.cachedLicenses,
      clock,
    });
    const webhooks = startWebhookEngine({
      pool: database.pool,
      keyring,
      clock,
      log,
      allowed: config.webhookAllow,
      resolve: resolveHost,
      environment: () => services,
    });
    closers.push((deadline) => webhooks.close(deadline));
    const { followers } = securityLogFeed;
    changes.attach({
      caches,
      followers: {
        ...followers,
        wake: (topics) => {
          followers.wake(topics);
          webhooks.wake(topics);
        },
      },
    });
    const services: ServiceEnvironment = {
      database,
      changes,
      store,
      replayGuard: createReplayGuard(store),
      caches,
      securityLog,
      securityLogFeed,
      eventStats,
      apiKeyUse,
      sessionUse,
      endedSessions: createEndedSessions(database.pool, log),
      exportSlots: createExportSlots(),
      unreadAnswers: createUnreadAnswers(),
      readTurns: createDeveloperTurns(limitsOf('read'), tooManyReads),
      changeTurns: createDeveloperTurns(limitsOf('change'), tooManyChanges),
      mintTurns: createFairQueue({ concurrency: 1, maxWaiting: maxMintsWaiting }),
      leaseTurns: createFairQueue({ concurrency: maxLeasesAtOnce, maxWaiting: maxLeasesWaiting }),
      webhooks,
      keyring,
      tickets: createTicketSealer({
        ticketSecret: keyring.ticketSecret,
        previousTicketSecrets: keyring.previous.map(({ ticketSecret }) => ticketSecret),
        clock,
        replayEpoch: () => store.epoch,
      }),
      serviceKeys,
      clock,
      log,
      counts: createServiceCounts(),
      // Not the whole configuration, which has secrets.
      settings: {
        publicUrl: config.publicUrl,
        rateLimits: config.rateLimits,
        countLimits: config.countLimits,
        cryptoEnforce: config.cryptoEnforce,
        registrationOpen: config.registrationOpen,
        webhookAllow: config.webhookAllow,
        turnstile: config.turnstile,
      },
    };
    const telemetry = createTelemetry();
    const readiness = createReadiness(database, store, watch);
    telemetry.add(metricFamilies(services, readiness));
    return { config, log, services, countryOfIp, telemetry, readiness, close };
  } catch (error) {
    await close().catch(() => undefined);
    throw asStartError(error);
  }
}

async function openStore(
  { redis, redisPrefix }: Config,
  database: Database,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Promise<EphemeralStore> {
  if (redis !== null) {
    const keyPrefix = `${redisPrefix}${await readInstallationId(database.pool)}:`;
    return createRedisStore({ address: redis, keyPrefix, log });
  }
  if (database.kind === 'server') {
    log.warn(
      'REDIS_URL is not set: replay protection and rate limits are per process. Set it before you run a second instance on this database',
    );
  }
  return createMemoryStore({ clock });
}

async function watchDatabase(config: Config, database: Database, log: Logger): Promise<Watch> {
  if (config.database.kind !== 'server') return embeddedWatch;
  const connection = createWatchConnection(config.database.url, log);
  return startWatch({ connection, database, log, staleIfDownSeconds: config.staleIfDownSeconds });
}
