import { availableParallelism, totalmem } from 'node:os';
import { defineConfig } from 'vitest/config';
import { hasPgbouncer } from './test/setup/pgbouncer-program.ts';
import { replacing } from './test/setup/replacing.ts';

const onServer = process.env.TEST_DATABASE_URL !== undefined;

/** Tests that this run skips because a server or program is missing. */
const skipped = [
  ...(onServer ? [] : ['PostgreSQL server (set TEST_DATABASE_URL)']),
  ...(process.env.TEST_REDIS_URL === undefined ? ['Redis (set TEST_REDIS_URL)'] : []),
  ...(onServer && !hasPgbouncer ? ['PgBouncer (install pgbouncer)'] : []),
];
if (skipped.length > 0)
  process.stderr.write(`Skipped, because a server is missing: tests on ${skipped.join(', ')}.\n`);

/**
 * The number of test processes. One processor is left to Vitest's main process, which idles while tests run, so with two
 * processors both run tests. A process with embedded databases grows to 1.6 GB.
 */
const maxWorkers = Math.max(2, Math.min(availableParallelism() - 1, Math.floor(totalmem() / 2 ** 31)));

const shared = {
  pool: 'forks',
  testTimeout: 30_000,
  hookTimeout: 60_000,
  // `npm run trust` counts the inputs that the tests have tried.
  setupFiles: process.env.TRUST_TALLY === undefined ? [] : ['test/setup/tally-inputs.ts'],
};

/**
 * The files of a project run one after another in a few processes, each of which loads the service once: loading takes
 * longer than the tests of most files. Vitest never shares a process between projects, so each keeps its environment.
 */
const together = { ...shared, isolate: false };

/** Tests of the public interfaces run once on each kind of database. */
const api = (databaseKind: 'memory' | 'server') => ({
  test: {
    ...together,
    name: `api on ${databaseKind === 'memory' ? 'the embedded database' : 'a PostgreSQL server'}`,
    include: ['test/api/**/*.test.ts', 'test/graphql/**/*.test.ts'],
    env: { TEST_DATABASE_KIND: databaseKind },
  },
});

export default defineConfig({
  test: {
    maxWorkers,
    projects: [
      {
        test: {
          ...together,
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: ['test/api/**', 'test/graphql/**', ...replacing],
        },
      },
      { test: { ...shared, name: 'parts with replaced modules', include: replacing } },
      api('memory'),
      ...(onServer ? [api('server')] : []),
    ],
  },
});
