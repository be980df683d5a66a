import { defineConfig } from 'vitest/config';

const onServer = process.env.TEST_DATABASE_URL !== undefined;

/** What a run on this machine leaves out, said once. */
const leftOut = [
  ...(onServer ? [] : ['PostgreSQL server (set TEST_DATABASE_URL)']),
  ...(process.env.TEST_REDIS_URL === undefined ? ['Redis (set TEST_REDIS_URL)'] : []),
];
if (leftOut.length > 0)
  process.stderr.write(`Left out, for want of a server: tests on ${leftOut.join(', ')}.\n`);

const shared = { pool: 'forks', testTimeout: 30_000, hookTimeout: 60_000 } as const;

/** The tests that go through the public interfaces run once on each database. */
const api = (databaseKind: 'memory' | 'server') => ({
  test: {
    ...shared,
    name: `api on ${databaseKind === 'memory' ? 'the embedded database' : 'a PostgreSQL server'}`,
    include: ['test/api/**/*.test.ts', 'test/graphql/**/*.test.ts'],
    env: { TEST_DATABASE_KIND: databaseKind },
  },
});

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: ['test/api/**', 'test/graphql/**'],
        },
      },
      api('memory'),
      ...(onServer ? [api('server')] : []),
    ],
  },
});
