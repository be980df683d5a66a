import type { Pool } from 'pg';
import { type Config, connectionsBesidePool } from '../../config.ts';
import { advisoryLocks, describeHolder, holdersOf } from '../../db/advisory-locks.ts';
import { partitionOf } from '../../db/log-partition.ts';
import { detachedOf } from '../../db/log-partitions.ts';
import { pendingMigrations, readAppliedMigrations } from '../../db/migration-history.ts';
import { readMigrations } from '../../db/migrations.ts';
import { describeFailure } from '../failure.ts';
import { checkClock } from './check-clock.ts';
import { checkSettings } from './check-settings.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn, fail } = findingsOf('database');

/** Searches find the same without them, and read more. */
const usefulExtensions = ['btree_gin', 'pg_trgm'];
/** No statement of the service waits that long for its next one. */
const longestIdleSeconds = 60;

async function first<Row extends object>(pool: Pool, sql: string, values: unknown[] = []): Promise<Row> {
  const { rows } = await pool.query<Row>(sql, values);
  const row = rows[0];
  if (row === undefined) throw new Error('The database answered nothing.');
  return row;
}

/** Looks at an open database as it is found, and changes nothing. */
export async function checkDatabase(pool: Pool, kind: 'embedded' | 'server'): Promise<readonly Finding[]> {
  const { version, encoding } = await first<{ version: string; encoding: string }>(
    pool,
    `SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding`,
  );
  const { pending, isEmpty, finding } = await checkMigrations(pool);
  return [
    ok(`PostgreSQL ${version}`),
    encoding === 'UTF8'
      ? ok('Its encoding is UTF8')
      : fail(
          `Its encoding is ${encoding}, which cannot store every text, so the service does not start: create a database ` +
            `with ENCODING 'UTF8', and move the data with "latchkey backup" and "latchkey restore".`,
        ),
    finding,
    ...(kind === 'server'
      ? [
          ...(await checkServerClock(pool)),
          await checkIdle(pool),
          await checkLocks(pool),
          ...(await checkSettings(pool)),
          await checkExtensions(pool),
        ]
      : []),
    ...(isEmpty || pending ? [] : [await checkPartitions(pool)]),
    ...(isEmpty ? [] : [await checkIndexes(pool)]),
  ];
}

async function checkMigrations(
  pool: Pool,
): Promise<{ pending: boolean; isEmpty: boolean; finding: Finding }> {
  const applied = await readAppliedMigrations(pool);
  if (applied.length === 0) {
    const finding = ok('It is empty: the first start, or "latchkey migrate", makes its tables');
    return { pending: true, isEmpty: true, finding };
  }
  try {
    const pending = pendingMigrations(await readMigrations(), applied);
    const finding =
      pending.length === 0
        ? ok(`All ${applied.length} migrations are applied`)
        : warn(
            `${pending.length} migrations are to be applied: the next start, or "latchkey migrate", does it.`,
          );
    return { pending: pending.length > 0, isEmpty: false, finding };
  } catch (error) {
    return { pending: true, isEmpty: false, finding: fail(describeFailure(error)) };
  }
}

async function checkServerClock(pool: Pool): Promise<readonly Finding[]> {
  let [quickest, ahead] = [Number.POSITIVE_INFINITY, 0];
  for (let count = 0; count < 3; count += 1) {
    const asked = performance.now();
    const { now } = await first<{ now: string }>(
      pool,
      'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now',
    );
    const latency = performance.now() - asked;
    if (latency >= quickest) continue;
    quickest = latency;
    ahead = Number(now) - (Date.now() - latency / 2);
  }
  return [checkClock('the PostgreSQL server', ahead, 'database')];
}

/**
 * Looks for transactions that somebody has begun and forgotten.
 * @param longestSeconds those that have been idle for longer are told
 */
export async function checkIdle(pool: Pool, longestSeconds = longestIdleSeconds): Promise<Finding> {
  const { count, seconds } = await first<{ count: number; seconds: number | null }>(
    pool,
    `SELECT count(*)::int AS count, max(extract(epoch FROM now() - state_change))::int AS seconds
     FROM pg_stat_activity
     WHERE datname = current_database() AND state LIKE 'idle in transaction%'
       AND state_change < now() - make_interval(secs => $1)`,
    [longestSeconds],
  );
  return count === 0
    ? ok('No transaction has been left open')
    : warn(
        `${count} transactions are open and idle, the oldest for ${seconds} s: they hold locks and keep old rows. See ` +
          'pg_stat_activity for whose they are.',
      );
}

/** Between two statements of a session that works, less than this passes. */
const forgottenSeconds = 5;

/**
 * Looks for our locks that a session has kept: behind a pool of connections, one that its taker cannot let go any more.
 * @param longestSeconds those of backends that have been idle for longer are told
 */
export async function checkLocks(pool: Pool, longestSeconds = forgottenSeconds): Promise<Finding> {
  const stuck = (await holdersOf(pool, Object.values(advisoryLocks))).filter(
    ({ state, seconds }) => state === 'idle' && (seconds ?? 0) >= longestSeconds,
  );
  if (stuck.length === 0) return ok('No lock of the service is stuck');
  const [level, effect] = stuck.some(({ key }) => key === advisoryLocks.migration)
    ? [fail, 'no start and no migration gets past it']
    : [warn, 'what it is for is not done meanwhile'];
  return level(
    `${stuck.map((holder) => `Advisory lock ${holder.key} is held by ${describeHolder(holder)}`).join('; ')}: ${effect}. ` +
      `Nobody is at work on it, so end it: ${stuck.map(({ pid }) => `SELECT pg_terminate_backend(${pid})`).join('; ')}.`,
  );
}

async function checkExtensions(pool: Pool): Promise<Finding> {
  const { rows } = await pool.query<{ name: string }>(
    'SELECT extname AS name FROM pg_extension WHERE extname = ANY($1)',
    [usefulExtensions],
  );
  const lacking = usefulExtensions.filter((name) => !rows.some((row) => row.name === name));
  return lacking.length === 0
    ? ok('It has the extensions that searches use')
    : warn(
        `It lacks ${lacking.join(' and ')}: searches find the same and read more. Its owner makes them with ` +
          `"${lacking.map((name) => `CREATE EXTENSION ${name}`).join('; ')}".`,
      );
}

async function checkPartitions(pool: Pool): Promise<Finding> {
  const wanted = [0, 1].map((weeks) => partitionOf(Date.now(), weeks));
  const names = wanted.map(({ name }) => name);
  const { rows } = await pool.query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS wanted (name) WHERE to_regclass(name) IS NULL',
    [names],
  );
  if (rows.length > 0) {
    return warn(
      `The security log has no partition ${rows.map(({ name }) => name).join(' and ')}: a start makes it. If the ` +
        'service runs, see its log for why it did not.',
    );
  }
  const detached = await detachedOf(pool, wanted);
  if (detached.length > 0) {
    return fail(
      `The security log has no partition for a week: the table exists but is not attached to the log. Attach it: ${detached
        .map(
          ({ name, from, to }) =>
            `ALTER TABLE security_log ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`,
        )
        .join('; ')}; or rename it. The service does not start in that week.`,
    );
  }
  const { stray } = await first<{ stray: boolean }>(
    pool,
    'SELECT EXISTS (SELECT 1 FROM security_log_default) AS stray',
  );
  return stray
    ? warn('The security log has entries in its default partition: the clock of an instance was weeks ahead.')
    : ok('The security log has its partitions, and nothing beside them');
}

async function checkIndexes(pool: Pool): Promise<Finding> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_index
     JOIN pg_class ON pg_class.oid = indexrelid
     WHERE NOT indisvalid AND relnamespace = current_schema()::regnamespace ORDER BY relname`,
  );
  return rows.length === 0
    ? ok('Every index is whole')
    : warn(
        `These indexes are not whole: ${rows.map(({ name }) => name).join(', ')}. They are being built, or a build was ` +
          'cut short; then the next start of the service builds them anew.',
      );
}

/** Whether the server admits as many connections as an instance of this configuration may open. */
export async function checkConnections(pool: Pool, config: Config): Promise<Finding> {
  const { most, reserved } = await first<{ most: number; reserved: number }>(
    pool,
    `SELECT current_setting('max_connections')::int AS most,
       current_setting('superuser_reserved_connections')::int AS reserved`,
  );
  const needed = config.workers * (config.databaseConnections + connectionsBesidePool);
  const admitted = most - reserved;
  const numbers = `It admits ${admitted} connections, and an instance with WORKERS=${config.workers} opens up to ${needed}`;
  return admitted < needed ? warn(`${numbers}: raise max_connections, or lower WORKERS.`) : ok(numbers);
}
