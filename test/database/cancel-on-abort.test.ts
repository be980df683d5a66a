import { expect, onTestFinished, test, vi } from 'vitest';
import { cancelOnAbort } from '../../src/db/cancel-on-abort.ts';
import type { Database } from '../../src/db/database.ts';
import { createTestDatabase, databaseKinds, serverUrl } from '../setup/database.ts';

async function freshDatabase(kind: 'memory' | 'server'): Promise<Database> {
  const database = await createTestDatabase(kind);
  onTestFinished(() => database.close());
  return database;
}

/** Runs a statement that is cancelled at once, then closes the connection. */
async function stopWithin({ pool }: Pick<Database, 'pool'>, sql: string): Promise<unknown> {
  const client = await pool.connect();
  const stop = new AbortController();
  const working = cancelOnAbort(pool, client, stop.signal, (run) => run(sql));
  stop.abort();
  try {
    return await working;
  } finally {
    client.release(true);
  }
}

async function isRunning({ pool }: Database, text: string): Promise<boolean> {
  const { rows } = await pool.query(
    `SELECT FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid() AND strpos(query, $1) > 0`,
    [text],
  );
  return rows.length > 0;
}

test.each(databaseKinds)('work that ends in time succeeds, on %s', async (kind) => {
  const { pool } = await freshDatabase(kind);
  const client = await pool.connect();
  const never = new AbortController().signal;
  try {
    const { rows } = await cancelOnAbort(pool, client, never, (run) => run('SELECT 1 AS one'));
    expect(rows).toEqual([{ one: 1 }]);
  } finally {
    client.release();
  }
});

test.skipIf(serverUrl === null)('a server cancels the statement', async () => {
  const database = await freshDatabase('server');
  await expect(stopWithin(database, 'SELECT pg_sleep(600)')).rejects.toThrow();
  await vi.waitFor(async () => expect(await isRunning(database, 'pg_sleep(600)')).toBe(false), 20_000);
});

test.skipIf(serverUrl === null)('a server that does not cancel the statement is not waited for', async () => {
  const { pool } = await freshDatabase('server');
  const unanswered = { connect: () => pool.connect(), query: () => new Promise(() => undefined) };
  await expect(
    stopWithin({ pool: Object.assign(Object.create(pool), unanswered) }, 'SELECT pg_sleep(600)'),
  ).rejects.toThrow('A statement did not end within 300 ms of its cancellation.');
});
