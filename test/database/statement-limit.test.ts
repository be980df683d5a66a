import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildMissing } from '../../src/db/build-indexes.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { inTransaction, queryWithoutTimeout } from '../../src/db/in-transaction.ts';
import { withMigrationLock } from '../../src/db/migrate.ts';
import { createServerDatabase, serverUrl, silent } from '../setup/database.ts';

const show = `SELECT current_setting('statement_timeout') AS value`;
const limitOn = async (connection: pg.Pool | pg.ClientBase): Promise<string | undefined> =>
  (await connection.query<{ value: string }>(show)).rows[0]?.value;

describe.runIf(serverUrl !== null)('on a server', () => {
  let drop: () => Promise<void>;
  let database: Database;
  let pool: pg.Pool;
  beforeAll(async () => {
    const created = await createServerDatabase();
    drop = created.drop;
    database = await openDatabase({ kind: 'server', url: created.url }, { log: silent, maxConnections: 2 });
    pool = database.pool;
  });
  afterAll(async () => {
    await database.close();
    await drop();
  });

  test('a statement of a request takes at most three seconds, whatever used the connection before', async () => {
    expect(await limitOn(pool)).toBe('3s');
    await queryWithoutTimeout(pool, 'SELECT 1');
    await inTransaction(pool, (client) => client.query('SELECT 1'));
    await Promise.all([1, 2].map(async () => expect(await limitOn(pool)).toBe('3s')));
    expect(await database.prisma.$queryRawUnsafe(show)).toEqual([{ value: '3s' }]);
    await expect(pool.query('SELECT pg_sleep(30)')).rejects.toMatchObject({ code: '57014' });
  });

  test('maintenance statements have no timeout', async () => {
    expect((await queryWithoutTimeout<{ value: string }>(pool, show)).rows).toEqual([{ value: '0' }]);
    expect(await inTransaction(pool, limitOn)).toBe('0');
    expect(await withMigrationLock(pool, { log: silent }, limitOn)).toBe('0');
    const limits: unknown[] = [];
    await buildMissing(pool, {
      advisoryLock: 1,
      stop: undefined,
      missing: async () => [{ name: 'index' }],
      build: async (run) => {
        limits.push(...(await run(show)).rows);
      },
    });
    expect(limits).toEqual([{ value: '0' }]);
  });
});
