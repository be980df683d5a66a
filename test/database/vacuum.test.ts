import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { analyzeEmbedded } from '../../src/db/vacuum.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';

let server: TestServer;
let database: Database;
beforeAll(async () => {
  server = await startTestServer();
  database = server.deps.services.database;
  await database.pool.query('CREATE TABLE grown (id int)');
  await database.pool.query('CREATE TABLE still (id int)');
});
afterAll(() => server.close());

/** The planner's estimate of the number of rows; negative before the first ANALYZE. */
const believedRows = async (table: string): Promise<unknown> =>
  (await database.pool.query('SELECT reltuples FROM pg_class WHERE relname = $1', [table])).rows[0]
    ?.reltuples;

test('statistics of an embedded database are updated for changed tables only', async () => {
  await database.pool.query('INSERT INTO grown SELECT generate_series(1, 500)');
  await database.pool.query('INSERT INTO still SELECT generate_series(1, 20)');
  await expect
    .poll(async () => {
      await analyzeEmbedded(database);
      return believedRows('grown');
    })
    .toBe(500);
  expect(await believedRows('still')).toBe(-1);
});
