import { availableParallelism, totalmem } from 'node:os';
import { defineConfig } from 'vitest/config';
import { hasPgbouncer } from './test/setup/pgbouncer-program.ts';
import { replacing } from './test/setup/replacing.ts';

const onServer = process.env.TEST_DATABASE_URL !== undefined;

/** What a run on this machine leaves out, said once. */
const leftOut = [
  ...(onServer ? [] : ['PostgreSQL server (set TEST_DATABASE_URL)']),
  ...(process.env.TEST_REDIS_URL === undefined ? ['Redis (set TEST_REDIS_URL)'] : []),
  ...(onServer && !hasPgbouncer ? ['PgBouncer (install pgbouncer)'] : []),
];
if (leftOut.length > 0)
  process.stderr.write(`Left out, for want of a server: tests on ${leftOut.join(', ')}.\n`);

/**
 * So many processes at once. One processor is Vitest's own, which idles while tests run: where there are two, both
 * have tests. A process with embedded databases grows to 1.6 GB.
 */
const maxWorkers = Math.max(2, Math.min(availableParallelism() - 1, Math.floor(totalmem() / 2 ** 31)));

const shared = {
  pool: 'forks',
  testTimeout: 30_000,
  hookTimeout: 60_000,
  // `npm run trust` sums up what the tests have tried.
  setupFiles: process.env.TRUST_TALLY === undefined ? [] : ['test/setup/tally-inputs.ts'],
};

/**
 * The files of a project follow each other in a few processes, and load the service once in each: loading it takes
 * longer than most files' tests. Vitest never gives a process to two projects, so each keeps its environment.
 */
const together = { ...shared, isolate: false };

/** The tests that go through the public interfaces run once on each database. */
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
