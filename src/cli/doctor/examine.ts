import { type Config, ConfigError, type DataConfig, loadConfig, loadDataConfig } from '../../config.ts';
import type { DatabaseAddress } from '../../db/address.ts';
import { findInstallationId } from '../../db/installation.ts';
import { connectServer } from '../../db/server.ts';
import { openCountryDatabase } from '../../lib/country-database.ts';
import { unknownVariables } from '../../unknown-variables.ts';
import { type Connections, commandLog, inMemoryDatabaseError } from '../database.ts';
import type { Terminal } from '../terminal.ts';
import { checkConnections, checkDatabase } from './check-database.ts';
import { checkDirectory, type DirectoryState } from './check-directory.ts';
import { checkNode } from './check-node.ts';
import { checkProduction } from './check-production.ts';
import { checkRedis } from './check-redis.ts';
import { checkConfiguredSecret, checkKeys } from './check-secret.ts';
import { checkServiceKeys } from './check-service-keys.ts';
import { checkAddress } from './check-settings.ts';
import { type Finding, findingsOf, withinTime } from './finding.ts';
import { CheckSkippedError, openCopy } from './open-copy.ts';

/** Timeouts of checks, in seconds. Opening an embedded database and decrypting all private keys take the longest. */
const timeoutSeconds = { server: 10, embedded: 60, keys: 60 };

/** Runs all checks in order, without changing anything. */
export async function* examine(terminal: Terminal): AsyncGenerator<Finding> {
  yield* checkNode(process.versions.node);
  const { config, data, findings } = readConfiguration(terminal.env);
  yield* findings;
  const installationId = data === null ? null : yield* examineData(data, config, terminal);
  if (config === null) return;
  const { redis, redisPrefix } = config;
  // Without an id, any slot of a cluster stands for the one that the first start will choose.
  if (redis !== null) yield* checkRedis(redis, `${redisPrefix}${installationId ?? ''}:`);
  else if (config.database.kind === 'server') yield withoutRedis;
  if (config.geoipDatabase !== null) yield* await examineCountries(config.geoipDatabase);
  yield* checkProduction(config);
}

interface Configuration {
  /** Null if a variable is invalid. */
  readonly config: Config | null;
  /** Null if a variable that locates the data is invalid. */
  readonly data: DataConfig | null;
  readonly findings: readonly Finding[];
}

function readConfiguration(env: Terminal['env']): Configuration {
  const { ok, warn, fail } = findingsOf('configuration');
  const [config, problems] = attempt(() => loadConfig(env));
  const [data] = attempt(() => loadDataConfig(env));
  return {
    config,
    data,
    findings: [
      ...(problems.length === 0 ? [ok('All variables are valid')] : problems.map((each) => fail(each))),
      ...unknownVariables(env).map((each) => warn(each)),
    ],
  };
}

function attempt<Value>(load: () => Value): [Value | null, readonly string[]] {
  try {
    return [load(), []];
  } catch (error) {
    if (error instanceof ConfigError) return [null, error.problems];
    throw error;
  }
}

/** @returns the id of the installation; null before the first start, or if the database cannot be read */
async function* examineData(
  data: DataConfig,
  config: Config | null,
  terminal: Terminal,
): AsyncGenerator<Finding, string | null> {
  const { database } = data;
  const directory: DirectoryState | null =
    database.kind === 'embedded' ? await checkDirectory(database.directory) : null;
  if (directory !== null) yield* directory.findings;
  yield* await withinTime('secret', timeoutSeconds.server, async () =>
    checkConfiguredSecret(data, directory?.canBeOpened ?? false),
  );
  if (database.kind === 'memory') {
    yield findingsOf('database').warn('DATA_DIR is "memory:": all data is lost when the service stops.');
  } else if (directory === null || directory.canBeOpened) {
    return yield* examineDatabase(data, config, terminal);
  }
  return null;
}

async function* examineDatabase(
  data: DataConfig,
  config: Config | null,
  terminal: Terminal,
): AsyncGenerator<Finding, string | null> {
  const { database } = data;
  if (database.kind === 'server') yield* checkAddress(database.url);
  let open: Connections | null = null;
  const limit = database.kind === 'server' ? timeoutSeconds.server : timeoutSeconds.embedded;
  yield* await withinTime('database', limit, async (signal) => {
    try {
      open = await openForChecks(database, signal, terminal);
      return [];
    } catch (error) {
      if (error instanceof CheckSkippedError) return [findingsOf('database').warn(error.message)];
      throw error;
    }
  });
  // The compiler does not see the assignment in the callback above.
  const connections = open as Connections | null;
  if (connections === null) return null;
  const { pool, kind, close } = connections;
  try {
    yield* await withinTime('database', limit, () => checkDatabase(pool, kind, data));
    if (config !== null && kind === 'server') {
      yield* await withinTime('database', limit, async () => [await checkConnections(pool, config)]);
    }
    if (data.serviceSecret !== null || kind === 'embedded') {
      yield* await withinTime('secret', timeoutSeconds.keys, (signal) => checkKeys(data, pool, signal));
      yield* await withinTime('service keys', limit, () => checkServiceKeys(data, pool));
    }
    return await findInstallationId(pool).catch(() => null);
  } finally {
    await close();
  }
}

/**
 * Opens a server with connections that time out, so that the checks always end, and an embedded database as a copy.
 */
async function openForChecks(
  database: DatabaseAddress,
  signal: AbortSignal,
  terminal: Terminal,
): Promise<Connections> {
  switch (database.kind) {
    case 'memory':
      throw inMemoryDatabaseError();
    case 'embedded':
      return openCopy(database.directory, signal, terminal);
    case 'server':
      return { kind: 'server', ...(await connectServer(database.url, commandLog(terminal), 2)) };
  }
}

const withoutRedis = findingsOf('redis').ok(
  'REDIS_URL is not set: replay protection and rate limits are per process. Set it before you run a second instance on ' +
    'this database.',
);

const examineCountries = (path: string): Promise<readonly Finding[]> =>
  withinTime('country database', timeoutSeconds.server, async () => {
    await openCountryDatabase(path);
    return [findingsOf('country database').ok(`${path} is readable`)];
  });
