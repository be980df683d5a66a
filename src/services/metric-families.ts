import { droppedLogLines } from '../lib/log-output.ts';
import { labelled, type MetricFamily, single } from '../telemetry/family.ts';
import type { ServiceEnvironment } from './context.ts';
import type { Readiness } from './readiness.ts';

type Observed = Pick<ServiceEnvironment, 'caches' | 'counts' | 'database' | 'securityLog' | 'store'>;

/** What the services and what they stand on tell Prometheus. */
export const metricFamilies = (env: Observed, readiness: Readiness): readonly MetricFamily[] => [
  ...protocolFamilies(env),
  ...cacheFamilies(env),
  ...securityLogFamilies(env),
  ...databaseFamilies(env),
  ...(env.store.shared ? [redisUp(env)] : []),
  single({
    name: 'latchkey_ready',
    help: 'Whether /health/ready answers 200: 1 or 0; of several workers, the one that is worst off.',
    type: 'gauge',
    ofWorkers: 'min',
    value: () => Number(readiness.report().ready),
  }),
  single({
    name: 'latchkey_log_lines_dropped_total',
    help: 'Lines of the log that were dropped, because whatever reads standard output had stopped.',
    type: 'counter',
    value: droppedLogLines,
  }),
];

const protocolFamilies = ({ counts }: Observed): MetricFamily[] => [
  {
    name: 'latchkey_verdicts_total',
    help: 'Verdicts that client software was given, by what it asked for and code; session_init is the handshake.',
    type: 'counter',
    labels: ['verb', 'code'],
    read: () =>
      Object.entries(counts.verdicts).flatMap(([verb, tally]) =>
        Array.from(tally.entries(), ([code, value]) => ({ labels: { verb, code }, value })),
      ),
  },
  labelled({
    name: 'latchkey_protocol_refusals_total',
    help: 'Sealed requests that were refused before they were trusted, by code: REPLAY, DECRYPT_FAIL, CLOCK_SKEW and their like.',
    type: 'counter',
    label: 'code',
    values: () => counts.protocolRefusals.entries(),
  }),
  labelled({
    name: 'latchkey_rate_limited_total',
    help: 'Requests over a limit, by the name of the limit; of GraphQL, fields.',
    type: 'counter',
    label: 'limit',
    values: () => counts.rateLimited.entries(),
  }),
];

const cacheFamilies = ({ caches }: Observed): MetricFamily[] => [
  {
    name: 'latchkey_cache_requests_total',
    help: 'What the caches of the hot path were asked for, by cache and result: hit, or miss, which costs PostgreSQL a look-up.',
    type: 'counter',
    labels: ['cache', 'result'],
    read: () =>
      caches.usage.flatMap(({ name: cache, hits, misses }) => [
        { labels: { cache, result: 'hit' }, value: hits },
        { labels: { cache, result: 'miss' }, value: misses },
      ]),
  },
  labelled({
    name: 'latchkey_cache_entries',
    help: 'What each cache holds.',
    type: 'gauge',
    label: 'cache',
    values: () => caches.usage.map(({ name, entries }) => [name, entries] as const),
  }),
];

const securityLogFamilies = ({ securityLog }: Observed): MetricFamily[] => [
  single({
    name: 'latchkey_security_log_waiting_entries',
    help: 'Entries of the security log that wait to be written. Beyond 50,000 a process drops the oldest.',
    type: 'gauge',
    value: () => securityLog.waiting,
  }),
  single({
    name: 'latchkey_security_log_written_total',
    help: 'Outcomes of client requests that were written to the security log.',
    type: 'counter',
    value: () => securityLog.written,
  }),
  single({
    name: 'latchkey_security_log_shed_total',
    help: 'Entries of the security log that were dropped: the buffer was full, or the database refused them.',
    type: 'counter',
    value: () => securityLog.shed,
  }),
];

const databaseFamilies = ({ database, counts }: Observed): MetricFamily[] => [
  single({
    name: 'latchkey_database_up',
    help: 'Whether PostgreSQL answered its last heartbeat: 1 or 0.',
    type: 'gauge',
    ofWorkers: 'min',
    value: () => Number(database.isAvailable()),
  }),
  labelled({
    name: 'latchkey_database_connections',
    help: 'Connections of the pool, by state: busy or idle.',
    type: 'gauge',
    label: 'state',
    values: () => {
      const { totalCount, idleCount } = database.pool;
      return [
        ['busy', totalCount - idleCount],
        ['idle', idleCount],
      ] as const;
    },
  }),
  single({
    name: 'latchkey_database_waiting_requests',
    help: 'Who waits for a connection of the pool.',
    type: 'gauge',
    value: () => database.pool.waitingCount,
  }),
  labelled({
    name: 'latchkey_database_errors_total',
    help: 'Statements that PostgreSQL answered with an error, by class of SQLSTATE; constraint ones are in order.',
    type: 'counter',
    label: 'class',
    values: () => database.errors.entries(),
  }),
  single({
    name: 'latchkey_database_doubtful_commits_total',
    help: 'Ambiguous commits: the connection was lost during COMMIT, so the transaction may or may not have been committed.',
    type: 'counter',
    value: () => counts.ambiguousCommits,
  }),
];

const redisUp = ({ store }: Observed): MetricFamily =>
  single({
    name: 'latchkey_redis_up',
    help: 'Whether Redis answers: 1 or 0.',
    type: 'gauge',
    ofWorkers: 'min',
    value: () => Number(store.isAvailable()),
  });
