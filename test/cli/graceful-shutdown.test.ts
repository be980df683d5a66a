import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { serverUrl } from '../setup/database.ts';
import { startRelay } from '../setup/relay.ts';
import { freshDirectory, freshServerDatabase, query, seed, succeed, untilRestoring } from './places.ts';
import { runCommand } from './run-command.ts';

const ended = { code: 1, stdout: '', stderr: 'Cancelled before it was done.\n' };

/** Commands that are cancelled while they wait. */
describe.skipIf(serverUrl === null)('a cancelled command', () => {
  test('that waits for the migration lock ends at once and applies no migration', async () => {
    const url = await freshServerDatabase();
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    onTestFinished(() => holder.end());
    // `prisma migrate` takes the lock like this.
    await holder.query('SELECT pg_advisory_lock(72707369)');
    const ending = new AbortController();
    const running = runCommand(['migrate'], { DATABASE_URL: url }, { signal: ending.signal });
    // The command tries to take the lock at intervals, on a connection that it keeps.
    const trying = `
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
    await expect
      .poll(async () => (await holder.query(trying)).rowCount, { timeout: 20_000 })
      .toBeGreaterThan(0);
    ending.abort();
    expect(await running).toEqual(ended);
    await holder.query('SELECT pg_advisory_unlock(72707369)');
    expect(await query(url, `SELECT FROM pg_class WHERE relname = 'developers'`)).toEqual([]);
  });

  test('that restores into an unresponsive server ends at once', async () => {
    const source = await freshServerDatabase();
    await succeed(['migrate'], { DATABASE_URL: source });
    await query(source, seed(5_000));
    const file = join(await freshDirectory(), 'a.backup');
    await succeed(['backup', file], { DATABASE_URL: source });
    const url = await freshServerDatabase();
    const relay = await startRelay(url);
    onTestFinished(() => relay.close());
    const ending = new AbortController();
    const running = runCommand(['restore', file], { DATABASE_URL: relay.url }, { signal: ending.signal });
    await untilRestoring(url);
    relay.pause();
    ending.abort();
    expect(await running).toEqual(ended);
  });
});
