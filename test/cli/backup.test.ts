import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { writeAtomically } from '../../src/cli/backup/atomic-write.ts';
import { dataTables, derivedTables, ownTables } from '../../src/cli/backup/tables.ts';
import { takeLock } from '../../src/db/embedded/lock.ts';
import { createTestDatabase, databaseKinds, serverUrl } from '../setup/database.ts';
import { freshDirectory, freshServerDatabase, query, seed, succeed } from './places.ts';
import { runCommand } from './run-command.ts';

test('every table is backed up, derived from others, or about the database itself', async () => {
  const [kind = 'memory'] = databaseKinds.toReversed();
  const database = await createTestDatabase(kind);
  try {
    const { rows } = await database.pool.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
         AND relnamespace = current_schema()::regnamespace AND relname <> '_prisma_migrations'`,
    );
    const listed: readonly string[] = [...dataTables, ...derivedTables, ...ownTables];
    const unlisted = rows.map(({ name }) => name).filter((name) => !listed.includes(name));
    expect(unlisted, 'list them in src/cli/backup/tables.ts').toEqual([]);
  } finally {
    await database.close();
  }
});

test('an embedded database in use by a service is not backed up', async () => {
  const directory = await freshDirectory();
  const env = { DATA_DIR: join(directory, 'data') };
  await succeed(['migrate'], env);
  const lock = await takeLock(env.DATA_DIR, '');
  try {
    const run = await runCommand(['backup', join(directory, 'a.backup')], env);
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/in use by process \d+.*Stop the service, back up, and start it again/s);
    expect(await readdir(directory)).toEqual(['data']);
  } finally {
    await lock.release();
  }
  await succeed(['backup', join(directory, 'a.backup')], env);
});

test('a file created during the backup is replaced only with --force', async () => {
  const directory = await freshDirectory();
  const path = join(directory, 'a.backup');
  const writeMeanwhile = async (stream: Writable): Promise<void> => {
    await writeFile(path, 'mine');
    await finished(stream.end('backup'));
  };
  const warn = (message: string): never => expect.fail(message);
  await expect(writeAtomically({ path, force: false, warn }, writeMeanwhile)).rejects.toThrow(
    /a\.backup was created during the backup and has not been replaced/,
  );
  expect(await readdir(directory)).toEqual(['a.backup']);
  expect(await readFile(path, 'utf8')).toBe('mine');

  await writeAtomically({ path, force: true, warn }, writeMeanwhile);
  expect(await readdir(directory)).toEqual(['a.backup']);
  expect(await readFile(path, 'utf8')).toBe('backup');
});

test('an empty file name is refused before any work', async () => {
  const run = await runCommand(['backup', ''], { DATABASE_URL: 'postgresql://127.0.0.1:1/x' });
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(run.stderr).toMatch(/The file name is empty/);
});

test('no database is created where there is none', async () => {
  const directory = await freshDirectory();
  const run = await runCommand(['backup', join(directory, 'a.backup')], {
    DATA_DIR: join(directory, 'data'),
  });
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(run.stderr).toMatch(/There is no database in .*data/);
  expect(await readdir(directory)).toEqual([]);
});

describe.skipIf(serverUrl === null)('a backup of a server', () => {
  test('is one file that only its owner can read, and replaces another only with --force', async () => {
    const directory = await freshDirectory();
    const file = join(directory, 'a.backup');
    const env = { DATABASE_URL: await freshServerDatabase() };
    expect((await runCommand(['backup', file], env)).stderr).toMatch(/has no Latchkey tables/);
    await succeed(['migrate'], env);

    const run = await succeed(['backup', file], env);
    expect(run.stdout).toMatch(/does not contain the master secret: keep the value of SERVICE_SECRET/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);

    await writeFile(file, 'mine');
    const refused = await runCommand(['backup', file], env);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/exists: name another file, or replace it with --force/);
    expect(await readFile(file, 'utf8')).toBe('mine');
    await succeed(['backup', '--force', file], env);
    expect(gunzipSync(await readFile(file)).toString()).toMatch(/^{"format":"latchkey-backup","version":1,/);
    expect(await readdir(directory)).toEqual(['a.backup']);
  });

  test('leaves no file when interrupted', async () => {
    const directory = await freshDirectory();
    const env = { DATABASE_URL: await freshServerDatabase() };
    await succeed(['migrate'], env);
    const signal = AbortSignal.abort();
    const run = await runCommand(['backup', join(directory, 'a.backup')], env, { signal });
    expect(run).toMatchObject({ code: 1, stdout: '', stderr: 'Cancelled before it was done.\n' });
    expect(await readdir(directory)).toEqual([]);
  });

  test('is consistent while others write', async () => {
    const file = join(await freshDirectory(), 'a.backup');
    const url = await freshServerDatabase();
    await succeed(['migrate'], { DATABASE_URL: url });
    await query(url, seed(3_000));

    const writer = new pg.Client({ connectionString: url });
    await writer.connect();
    let isWriting = true;
    // Each statement adds the same number of licenses and log entries.
    const writing = (async () => {
      for (let n = 100_000; isWriting; n++) {
        await writer.query(`
          WITH license AS (
            INSERT INTO licenses (id, application_id, key_hash, key_prefix)
            SELECT gen_random_uuid(), id, sha256('${n}'), 'X' FROM applications RETURNING application_id)
          INSERT INTO security_log (id, developer_id, application_id, event)
          SELECT '01a1f9ca-9544-7000-9000-${String(n).padStart(12, '0')}', developer_id, id, 'x'
          FROM license JOIN applications ON id = application_id`);
        await sleep(1);
      }
    })();
    try {
      await succeed(['backup', file], { DATABASE_URL: url });
    } finally {
      isWriting = false;
      await writing;
      await writer.end();
    }
    const target = await freshServerDatabase();
    await succeed(['restore', file], { DATABASE_URL: target });
    const [counts] = await query<{ licenses: string; entries: string }>(
      target,
      'SELECT (SELECT count(*) FROM licenses) AS licenses, (SELECT count(*) FROM security_log) AS entries',
    );
    expect(counts?.licenses).toBe(counts?.entries);
    expect(Number(counts?.licenses)).toBeGreaterThanOrEqual(3_000);
  });
});
