import type { Pool } from 'pg';
import { type Config, connectionsBesidePool, type DataConfig } from '../../config.ts';
import { advisoryLocks, describeHolder, holdersOf } from '../../db/advisory-locks.ts';
import type { MigrateMode } from '../../db/schema-upkeep.ts';
import { checkClock } from './check-clock.ts';
import { checkLockTable } from './check-lock-table.ts';
import { checkMigrations } from './check-migrations.ts';
import { checkPartitions } from './check-partitions.ts';
import { checkSettings } from './check-settings.ts';
import { checkStandby } from './check-standby.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn, fail } = findingsOf('database');

/** Searches work without them, but read more rows. */
const usefulExtensions = ['btree_gin', 'pg_trgm'];
/** The service never leaves a transaction idle for this long. */
const maxIdleSeconds = 60;

async function first<Row extends object>(pool: Pool, sql: string, values: unknown[] = []): Promise<Row> {
  const { rows } = await pool.query<Row>(sql, values);
  const row = rows[0];
  if (row === undefined) throw new Error('The database returned no row.');
  return row;
}

/** Checks an open database without changing it. */
export async function checkDatabase(
  pool: Pool,
  kind: 'embedded' | 'server',
  { logPartitions, migrate }: Pick<DataConfig, 'logPartitions' | 'migrate'>,
): Promise<readonly Finding[]> {
  const { version, encoding } = await first<{ version: string; encoding: string }>(
    pool,
    `SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding`,
  );
  const { isEmpty, isCurrent, finding } = await checkMigrations(pool, migrate);
  return [
    ok(`PostgreSQL ${version}`),
    encoding === 'UTF8'
      ? ok('The encoding is UTF8')
      : fail(
          `The encoding is ${encoding}, which cannot store every text, so the service does not start: create a database ` +
            `with ENCODING 'UTF8', and move the data with "latchkey backup" and "latchkey restore".`,
        ),
    finding,
    ...(kind === 'server'
      ? [
          ...(await checkServerClock(pool)),
          await checkIdle(pool),
          await checkLocks(pool),
          await checkStandby(pool),
          ...(await checkSettings(pool, migrate)),
          await checkExtensions(pool),
        ]
      : []),
    ...(isCurrent ? [await checkPartitions(pool, logPartitions, migrate)] : []),
    ...(isCurrent && kind === 'server' ? [await checkLockTable(pool)] : []),
    ...(isEmpty ? [] : [await checkIndexes(pool, migrate)]),
  ];
}

async function checkServerClock(pool: Pool): Promise<readonly Finding[]> {
  let [minLatency, ahead] = [Number.POSITIVE_INFINITY, 0];
  for (let count = 0; count < 3; count += 1) {
    const sentAt = performance.now();
    const { now } = await first<{ now: string }>(
      pool,
      'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now',
    );
    const latency = performance.now() - sentAt;
    if (latency >= minLatency) continue;
    minLatency = latency;
    ahead = Number(now) - (Date.now() - latency / 2);
  }
  return [checkClock('the PostgreSQL server', ahead, 'database')];
}

/**
 * Looks for transactions that a client has left open.
 * @param maxSeconds how long a transaction may be idle
 */
export async function checkIdle(pool: Pool, maxSeconds = maxIdleSeconds): Promise<Finding> {
  const { count, seconds } = await first<{ count: number; seconds: number | null }>(
    pool,
    `SELECT count(*)::int AS count, max(extract(epoch FROM now() - state_change))::int AS seconds
     FROM pg_stat_activity
     WHERE datname = current_database() AND state LIKE 'idle in transaction%'
       AND state_change < now() - make_interval(secs => $1)`,
    [maxSeconds],
  );
  return count === 0
    ? ok('No transaction has been left open')
    : warn(
        `${count} transactions are open and idle, the oldest for ${seconds} s. They hold locks and keep VACUUM from ` +
          'removing old rows: find their clients in pg_stat_activity.',
      );
}

/** A session that is using its lock pauses for less than this between two statements. */
const maxLockIdleSeconds = 5;

/**
 * Looks for advisory locks of the service that an idle session still holds. A connection pooler causes this: it keeps
 * the session of a client that has gone.
 * @param maxSeconds how long a session that holds a lock may be idle
 */
export async function checkLocks(pool: Pool, maxSeconds = maxLockIdleSeconds): Promise<Finding> {
  const stuck = (await holdersOf(pool, Object.values(advisoryLocks))).filter(
    ({ state, seconds }) => state === 'idle' && (seconds ?? 0) >= maxSeconds,
  );
  if (stuck.length === 0) return ok('No advisory lock of the service is stuck');
  const [level, effect] = stuck.some(({ key }) => key === advisoryLocks.migration)
    ? [fail, 'starts and migrations wait for it']
    : [warn, 'the maintenance that needs it is not done'];
  return level(
    `${stuck.map((holder) => `Advisory lock ${holder.key} is held by ${describeHolder(holder)}`).join('; ')}: ${effect}. ` +
      `The session is idle, so end it: ${stuck.map(({ pid }) => `SELECT pg_terminate_backend(${pid})`).join('; ')}.`,
  );
}

async function checkExtensions(pool: Pool): Promise<Finding> {
  const { rows } = await pool.query<{ name: string }>(
    'SELECT extname AS name FROM pg_extension WHERE extname = ANY($1)',
    [usefulExtensions],
  );
  const missing = usefulExtensions.filter((name) => !rows.some((row) => row.name === name));
  return missing.length === 0
    ? ok('The extensions that speed up searches are installed')
    : warn(
        `The extensions ${missing.join(' and ')} are missing: searches return the same results but read more rows. As the ` +
          `database's owner, run "${missing.map((name) => `CREATE EXTENSION ${name}`).join('; ')}".`,
      );
}

async function checkIndexes(pool: Pool, migrate: MigrateMode): Promise<Finding> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_index
     JOIN pg_class ON pg_class.oid = indexrelid
     WHERE NOT indisvalid AND relnamespace = current_schema()::regnamespace ORDER BY relname`,
  );
  return rows.length === 0
    ? ok('All indexes are valid')
    : warn(
        `These indexes are invalid: ${rows.map(({ name }) => name).join(', ')}. Either they are being built, or a build was ` +
          `interrupted; ${migrate === 'check' ? '"latchkey migrate"' : 'the next start of the service'} rebuilds them.`,
      );
}

/** Whether the server allows as many connections as an instance with this configuration may open. */
export async function checkConnections(pool: Pool, config: Config): Promise<Finding> {
  const { max, reserved } = await first<{ max: number; reserved: number }>(
    pool,
    `SELECT current_setting('max_connections')::int AS max,
       current_setting('superuser_reserved_connections')::int AS reserved`,
  );
  const needed = config.workers * (config.databaseConnections + connectionsBesidePool);
  const allowed = max - reserved;
  const numbers = `The server allows ${allowed} connections, and an instance with WORKERS=${config.workers} opens up to ${needed}`;
  return allowed < needed ? warn(`${numbers}: raise max_connections, or lower WORKERS.`) : ok(numbers);
}
