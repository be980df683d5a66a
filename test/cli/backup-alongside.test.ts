/** @module-tag slow */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { dropExpiredLogPartitions } from '../../src/db/log-partitions.ts';
import { createPool } from '../../src/db/pool.ts';
import { serverUrl, silent } from '../setup/database.ts';
import { freshDirectory, freshServerDatabase, query, seed, succeed } from './places.ts';
import { runCommand } from './run-command.ts';

// Backups during schema changes: a snapshot does not protect from those.

const long = 120_000;
const count = 300;

/** A database with some rows, and another session on it. */
async function seeded(): Promise<{ readonly url: string; readonly other: pg.Client }> {
  const url = await freshServerDatabase();
  await succeed(['migrate'], { DATABASE_URL: url });
  await query(url, seed(count));
  const other = new pg.Client({ connectionString: url });
  other.on('error', () => undefined);
  await other.connect();
  onTestFinished(() => other.end());
  return { url, other };
}

async function licensesIn(file: string): Promise<{ readonly stated: unknown; readonly rows: number }> {
  const lines = gunzipSync(await readFile(file))
    .toString('utf8')
    .split('\n');
  const stated = /"name":"licenses","columns":\[[^\]]*\],"rows":(\d+)/.exec(lines[0] ?? '')?.[1];
  return {
    stated,
    rows: lines.filter((line) => line.includes('"key_hash"') && line.includes('ABCDE-')).length,
  };
}

const untilWaiting = (url: string) =>
  expect
    .poll(
      () =>
        query(
          url,
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'latchkey-command'
             AND wait_event_type = 'Lock'`,
        ),
      { timeout: 30_000, interval: 20 },
    )
    .toHaveLength(1);

describe.skipIf(serverUrl === null)('a backup of a server', () => {
  test(
    'made during a migration that rewrites a table has all rows and can be restored',
    async () => {
      const { url, other } = await seeded();
      // In a snapshot taken before the rewrite, the table is empty.
      await other.query(
        'BEGIN; ALTER TABLE licenses ALTER COLUMN key_prefix TYPE CHARACTER VARYING(99) USING key_prefix || $$$$',
      );
      const file = join(await freshDirectory(), 'a.backup');
      const running = runCommand(['backup', file], { DATABASE_URL: url });
      await untilWaiting(url);
      await other.query('COMMIT');
      expect(await running).toMatchObject({ code: 0 });
      expect(await licensesIn(file)).toEqual({ stated: String(count), rows: count });
      const target = await freshServerDatabase();
      await succeed(['restore', file], { DATABASE_URL: target });
      expect(await query(target, 'SELECT count(*)::int AS count FROM licenses')).toEqual([{ count }]);
    },
    long,
  );

  test(
    'made while a partition is dropped has the remaining rows and can be restored',
    async () => {
      const { url, other } = await seeded();
      const pool = createPool({ connectionString: url }, silent);
      onTestFinished(() => pool.end());
      await other.query('BEGIN; LOCK TABLE security_log IN ACCESS EXCLUSIVE MODE');
      const file = join(await freshDirectory(), 'a.backup');
      const running = runCommand(['backup', file], { DATABASE_URL: url });
      await untilWaiting(url);
      const dropping = dropExpiredLogPartitions(pool, new Date(Date.now() + 20 * 86_400_000), 1);
      await other.query('COMMIT');
      expect(await running).toMatchObject({ code: 0 });
      expect((await dropping).length).toBeGreaterThan(0);
      await succeed(['restore', file], { DATABASE_URL: await freshServerDatabase() });
    },
    long,
  );
});
