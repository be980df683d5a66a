/** @module-tag slow */
import { spawnSync } from 'node:child_process';
import { chmod, chown, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { serverUrl, silent } from '../setup/database.ts';
import { startCommand } from './command-process.ts';
import {
  type After,
  freshDirectory,
  freshServerDatabase,
  query,
  seed,
  succeed,
  untilRestoring,
} from './places.ts';

/** The built command line as a process: what remains after a kill or on a full disk. */
describe.skipIf(serverUrl === null)('a command', () => {
  let source: string;
  let file: string;
  let directory: string;
  const undo: (() => Promise<void>)[] = [];
  const after: After = (each) => void undo.push(each);
  afterAll(async () => {
    for (const each of undo) await each();
  });
  beforeAll(async () => {
    source = await freshServerDatabase(after);
    await succeed(['migrate'], { DATABASE_URL: source });
    await query(source, seed(20_000));
    directory = await freshDirectory(after);
    file = join(directory, 'a.backup');
    await succeed(['backup', file], { DATABASE_URL: source });
  });

  test('that runs out of disk space during a backup says so and leaves no file', async () => {
    const target = join(await freshDirectory(), 'b.backup');
    const run = await startCommand(['backup', target], { DATABASE_URL: source }, { limit: 128 }).ended;
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/EFBIG.*larger than this process may write/s);
    expect(await readdir(join(target, '..'))).toEqual([]);
  });

  test('that runs out of disk space at the end of a backup on standard output says so', async () => {
    const output = join(await freshDirectory(), 'c.backup');
    // All chunks but the last fit, and the last lacks less than two blocks.
    const limit = Math.floor(((await stat(file)).size - 64) / 512);
    const run = await startCommand(['backup', '-'], { DATABASE_URL: source }, { limit, output }).ended;
    expect(run.stderr).toMatch(/EFBIG.*larger than this process may write/s);
    expect(run.stderr).not.toMatch(/Backed up/);
    expect(run.code).toBe(1);
  });

  test('writes a complete backup to standard output', async () => {
    const output = join(await freshDirectory(), 'd.backup');
    const run = await startCommand(['backup', '-'], { DATABASE_URL: source }, { output }).ended;
    expect(run, run.stderr).toMatchObject({ code: 0 });
    expect(gunzipSync(await readFile(output)).toString('utf8')).toMatch(
      /\n{"rows":40003,"sha256":"[0-9a-f]+"}\n$/,
    );
  });

  // Root can read everything, so tests run by root use another user for this, if that user can run Node.js.
  const user = process.getuid?.() === 0 ? 65_534 : undefined;
  const canRun = spawnSync(process.execPath, ['--version'], { uid: user }).status === 0;

  test.runIf(canRun)(
    'writes a backup to a directory that is writable but not readable, with a warning',
    async () => {
      const directory = await freshDirectory();
      const target = join(directory, 'e.backup');
      if (user !== undefined) await chown(directory, user, -1);
      await chmod(directory, 0o300);
      const run = await startCommand(['backup', target], { DATABASE_URL: source }, { user }).ended;
      await chmod(directory, 0o700);
      expect(run.stderr).toMatch(/e\.backup is complete, but .* its directory cannot be synced \(EACCES/);
      expect(run.stdout).toMatch(/Backed up/);
      expect(run.code).toBe(0);
      expect(await readdir(directory)).toEqual(['e.backup']);
    },
  );

  test('undoes its work if it receives one Ctrl-C twice, as under npm', async () => {
    const directory = await freshDirectory();
    const { child, ended } = startCommand(['backup', join(directory, 'f.backup')], { DATABASE_URL: source });
    await expect.poll(() => readdir(directory), { timeout: 60_000, interval: 5 }).toHaveLength(1);
    // A suspended process receives both on resumption. Two equal signals would be merged into one.
    for (const signal of ['SIGSTOP', 'SIGINT', 'SIGTERM', 'SIGCONT'] as const) child.kill(signal);
    const { code, stderr } = await ended;
    expect(stderr).toBe('Cancelled before it was done.\n');
    expect([130, 143]).toContain(code);
    expect(await readdir(directory)).toEqual([]);
  });

  test('that runs out of disk space for an embedded database says so, and can restore once there is space', async () => {
    const env = { DATA_DIR: join(await freshDirectory(), 'data') };
    const run = await startCommand(['restore', file], env, { limit: 2_048 }).ended;
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/EFBIG/);
    await succeed(['restore', file], env);
  });

  test('that is killed during a restore into a server leaves an empty database', async () => {
    const url = await freshServerDatabase();
    const { child, ended } = startCommand(['restore', file], { DATABASE_URL: url });
    await untilRestoring(url);
    child.kill('SIGKILL');
    expect(await ended).toMatchObject({ code: null, stdout: '' });
    // A service that starts on the database finds no data of the backup.
    const service = await openDatabase({ kind: 'server', url }, { log: silent });
    expect(await service.prisma.developer.count()).toBe(0);
    await service.close();
    await succeed(['restore', file], { DATABASE_URL: url });
    expect(await query(url, 'SELECT count(*) FROM licenses')).toEqual([{ count: '20000' }]);
  });

  test('that is killed during a restore into a directory leaves an empty database', async () => {
    const env = { DATA_DIR: join(await freshDirectory(), 'data') };
    const { child, ended } = startCommand(['restore', file], env);
    await expect
      .poll(() => readdir(env.DATA_DIR).catch(() => []), { timeout: 60_000, interval: 5 })
      .toContain('postgres');
    child.kill('SIGKILL');
    await ended;
    const service = await openDatabase({ kind: 'embedded', directory: env.DATA_DIR }, { log: silent });
    expect(await service.prisma.developer.count()).toBe(0);
    await service.close();
    await succeed(['restore', file], env);
  });

  test('writes the same bytes to a pipe as to a file', async () => {
    const run = await startCommand(['backup', '-'], { DATABASE_URL: source }).ended;
    expect(run.code).toBe(0);
    expect(run.stdout.length).toBeGreaterThan(1_000);
    expect(run.stderr).toMatch(/Backed up .* to standard output/);
  });
});
