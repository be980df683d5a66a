import { availableParallelism, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { chromiumProgram } from './test/setup/chromium-program.ts';
import { hasPgbouncer } from './test/setup/pgbouncer-program.ts';
import { replacing } from './test/setup/replacing.ts';

const onServer = process.env.TEST_DATABASE_URL !== undefined;

/** `npm test`, which has minutes: it leaves out what is tagged `slow`. A run by other means leaves out nothing. */
const isEveryday = process.env.TEST_TIER === 'everyday';

/** Tests of parts alone: no database, no service, no build. `npm run test:quick` runs these. */
const pure = [
  'test/{architecture,config,crypto,protocol,sdk,tools}/**/*.test.ts',
  'test/bench/{options,report,http-message}.test.ts',
  'test/dashboard/{same-rules,vault}.test.ts',
  'test/database/{mend-file-system,timestamp}.test.ts',
  'test/ephemeral/{cache,clock-steps,memory}.test.ts',
  'test/management/{errors,retries,types}.test.ts',
  'test/openapi/{examples,readable}.test.ts',
  'test/readme/pages.test.ts',
  'test/services/{decide,developer-turns,fair-turns,license-transitions,mask,note-use,stuck-commits,unread-answers}.test.ts',
  'test/telemetry/workers-page.test.ts',
];

const api = ['test/api/**/*.test.ts', 'test/graphql/**/*.test.ts'];

/** What runs on the embedded database as well where there is a server, in minutes: where the two could differ. */
const apiOnBoth = [
  'test/api/{smoke,licenses,license-changes,lists,search,users,validate}.test.ts',
  'test/graphql/{connections,filters,statements}.test.ts',
];

/**
 * The number of test processes. It is one more than there are processors, because tests wait for sockets and timers for a
 * third of their time. A process with embedded databases grows to 1.6 GB.
 */
const maxWorkers = Math.max(2, Math.min(availableParallelism() + 1, Math.floor(totalmem() / 2 ** 31)));

const builtThreads = fileURLToPath(new URL('test/setup/spawn-built.ts', import.meta.url));
const resolve = { alias: [{ find: /^\.\/spawn\.ts$/, replacement: builtThreads }] };

announce();

const shared = {
  pool: 'forks',
  // Tests that are marked concurrent mostly wait.
  maxConcurrency: 16,
  // These end a test that hangs. They are generous because a busy machine can be many times slower.
  testTimeout: 120_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 30_000 } },
  // `npm run trust` counts the inputs that the tests have tried.
  setupFiles: process.env.TRUST_TALLY === undefined ? [] : ['test/setup/tally-inputs.ts'],
};

/**
 * The files of a project run one after another in a few processes, each of which loads the service once: loading takes
 * longer than the tests of most files. Vitest never shares a process between projects, so each keeps its environment.
 */
const together = { ...shared, isolate: false };

/** Tests of the public interfaces run once on each kind of database. */
const apiOn = (databaseKind: 'memory' | 'server', include: string[]) => ({
  resolve,
  test: {
    ...together,
    name: `api on ${databaseKind === 'memory' ? 'the embedded database' : 'a PostgreSQL server'}`,
    include,
    env: { TEST_DATABASE_KIND: databaseKind },
  },
});

export default defineConfig({
  test: {
    maxWorkers,
    globalSetup: ['test/setup/build-threads.ts'],
    tags: [
      {
        name: 'slow',
        description: 'Large amounts, long waits, load, kills, sweeps over all inputs: left out by npm test.',
      },
    ],
    projects: [
      { resolve, test: { ...together, name: 'pure', include: pure, exclude: replacing } },
      {
        resolve,
        test: {
          ...together,
          name: 'parts',
          include: ['test/**/*.test.ts'],
          // Without a server, the API runs once, on the embedded database, in the processes that have loaded the service.
          exclude: [...(onServer ? api : []), ...pure, ...replacing],
        },
      },
      { resolve, test: { ...shared, name: 'parts with replaced modules', include: replacing } },
      ...(onServer ? [apiOn('memory', isEveryday ? apiOnBoth : api), apiOn('server', api)] : []),
    ],
  },
});

/** Says beforehand what a run on this machine takes and leaves out. */
function announce(): void {
  const skipped = [
    ...(isEveryday ? ['what is tagged slow (npm run test:all)'] : []),
    ...(isEveryday && onServer ? ['most of the API on the embedded database (npm run test:all)'] : []),
    ...(onServer ? [] : ['PostgreSQL server (set TEST_DATABASE_URL)']),
    ...(process.env.TEST_REDIS_URL === undefined ? ['Redis (set TEST_REDIS_URL)'] : []),
    ...(chromiumProgram === undefined ? ['the dashboard in a browser (install chromium)'] : []),
    ...(onServer && !hasPgbouncer ? ['PgBouncer (install pgbouncer)'] : []),
  ];
  const minutes = onServer ? 10 : 7;
  if (isEveryday) process.stderr.write(`Takes about ${minutes} minutes on two idle processors.\n`);
  if (skipped.length > 0) process.stderr.write(`Left out: ${skipped.join('; ')}.\n`);
}
