import { droppedLogLines } from '../lib/log-output.ts';
import { labelled, type MetricFamily, single } from '../telemetry/family.ts';
import type { ServiceEnvironment } from './context.ts';
import type { Readiness } from './readiness.ts';

type Observed = Pick<
  ServiceEnvironment,
  'caches' | 'counts' | 'database' | 'eventStats' | 'securityLog' | 'serviceKeys' | 'store' | 'webhooks'
>;

/** Metrics of the services and their dependencies. */
export const metricFamilies = (env: Observed, readiness: Readiness): readonly MetricFamily[] => [
  ...protocolFamilies(env),
  ...cacheFamilies(env),
  ...securityLogFamilies(env),
  ...webhookFamilies(env),
  ...eventFamilies(env),
  ...databaseFamilies(env),
  ...(env.store.shared ? [redisUp(env)] : []),
  single({
    name: 'latchkey_ready',
    help: 'Whether /health/ready returns 200: 1 or 0; with several workers, the lowest value.',
    type: 'gauge',
    ofWorkers: 'min',
    value: () => Number(readiness.report().ready),
  }),
  single({
    name: 'latchkey_log_lines_dropped_total',
    help: 'Log lines dropped because the reader of standard output was too slow.',
    type: 'counter',
    value: droppedLogLines,
  }),
];

const protocolFamilies = ({ counts, serviceKeys }: Observed): MetricFamily[] => [
  {
    name: 'latchkey_verdicts_total',
    help: 'Verdicts for client software by verb and code; session_init is the handshake.',
    type: 'counter',
    labels: ['verb', 'code'],
    read: () =>
      Object.entries(counts.verdicts).flatMap(([verb, counter]) =>
        Array.from(counter.entries(), ([code, value]) => ({ labels: { verb, code }, value })),
      ),
  },
  labelled({
    name: 'latchkey_call_answers_total',
    help: 'Signed answers to requests of protocol version 2, by code. The other verdicts are of version 1.',
    type: 'counter',
    label: 'code',
    values: () => counts.callAnswers.entries(),
  }),
  single({
    name: 'latchkey_service_key_age_seconds',
    help: 'Age of the newest key of protocol version 2, which is replaced after 86,400 s; -1 without a key.',
    type: 'gauge',
    ofWorkers: 'max',
    value: () => serviceKeys.newestAge() ?? -1,
  }),
  labelled({
    name: 'latchkey_protocol_refusals_total',
    help: 'Sealed requests refused before they were authenticated, by code, such as REPLAY, DECRYPT_FAIL or KEY_UNKNOWN.',
    type: 'counter',
    label: 'code',
    values: () => counts.protocolRefusals.entries(),
  }),
  labelled({
    name: 'latchkey_rate_limited_total',
    help: 'Requests over a rate limit, by limit; for GraphQL, fields.',
    type: 'counter',
    label: 'limit',
    values: () => counts.rateLimited.entries(),
  }),
];

const cacheFamilies = ({ caches }: Observed): MetricFamily[] => [
  {
    name: 'latchkey_cache_requests_total',
    help: 'Cache look-ups on the hot path by cache and result: hit, or miss, which costs a database look-up.',
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
    help: 'Entries in each cache.',
    type: 'gauge',
    label: 'cache',
    values: () => caches.usage.map(({ name, entries }) => [name, entries] as const),
  }),
];

const securityLogFamilies = ({ securityLog }: Observed): MetricFamily[] => [
  single({
    name: 'latchkey_security_log_waiting_entries',
    help: 'Security log entries waiting to be written. A process drops those older than LOG_BUFFER_SECONDS above 50,000, and all above 330,000.',
    type: 'gauge',
    value: () => securityLog.waiting,
  }),
  single({
    name: 'latchkey_security_log_written_total',
    help: 'Outcomes of client requests written to the security log.',
    type: 'counter',
    value: () => securityLog.written,
  }),
  single({
    name: 'latchkey_security_log_shed_total',
    help: 'Security log entries dropped because the buffer was full or the database refused them.',
    type: 'counter',
    value: () => securityLog.shed,
  }),
];

const webhookFamilies = ({ counts, webhooks }: Observed): MetricFamily[] => [
  labelled({
    name: 'latchkey_webhook_attempts_total',
    help: 'Attempts to send an event to a webhook, by outcome: success or failure.',
    type: 'counter',
    label: 'outcome',
    values: () => counts.webhookAttempts.entries(),
  }),
  single({
    name: 'latchkey_webhook_deliveries_waiting',
    help: 'Deliveries of enabled webhooks that wait for an attempt, up to 100,000; read every 30 s.',
    type: 'gauge',
    ofWorkers: 'max',
    value: () => webhooks.figures.waiting,
  }),
  single({
    name: 'latchkey_webhook_oldest_due_seconds',
    help: 'For how long the earliest of these could have been attempted, without those that wait for a receiver; read every 30 s.',
    type: 'gauge',
    ofWorkers: 'max',
    value: () => webhooks.figures.oldestDueSeconds,
  }),
  single({
    name: 'latchkey_webhooks_disabled',
    help: 'Webhooks that the service has disabled because their receivers failed or were gone; read every 30 s.',
    type: 'gauge',
    ofWorkers: 'max',
    value: () => webhooks.figures.disabled,
  }),
];

const eventFamilies = ({ eventStats }: Observed): MetricFamily[] => [
  single({
    name: 'latchkey_events_waiting',
    help: 'Events without a number, measured every minute. Readers number them, and maintenance numbers the rest.',
    type: 'gauge',
    ofWorkers: 'max',
    value: () => eventStats.waiting,
  }),
  single({
    name: 'latchkey_events_oldest_waiting_seconds',
    help: 'Age of the oldest event without a number, measured every minute. More than a few minutes is a fault.',
    type: 'gauge',
    ofWorkers: 'max',
    value: () => eventStats.oldestWaitingSeconds,
  }),
  single({
    name: 'latchkey_events_numbered',
    help: 'Events that ever got a number, of all accounts that exist, measured every minute.',
    type: 'gauge',
    ofWorkers: 'max',
    value: () => eventStats.numbered,
  }),
];

const databaseFamilies = ({ database, counts }: Observed): MetricFamily[] => [
  single({
    name: 'latchkey_database_up',
    help: 'Whether PostgreSQL responded to the last heartbeat: 1 or 0.',
    type: 'gauge',
    ofWorkers: 'min',
    value: () => Number(database.isAvailable()),
  }),
  labelled({
    name: 'latchkey_database_connections',
    help: 'Connections in the pool by state: busy or idle.',
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
    help: 'Requests waiting for a connection from the pool.',
    type: 'gauge',
    value: () => database.pool.waitingCount,
  }),
  labelled({
    name: 'latchkey_database_errors_total',
    help: 'Failed statements by SQLSTATE class; constraint violations are expected.',
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
    help: 'Whether Redis responds: 1 or 0.',
    type: 'gauge',
    ofWorkers: 'min',
    value: () => Number(store.isAvailable()),
  });
