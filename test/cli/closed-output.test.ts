import { describe, expect, test } from 'vitest';
import { serverUrl } from '../setup/database.ts';
import { startCommand } from './command-process.ts';
import { freshServerDatabase, query, succeed } from './places.ts';

/** The built command line as a process whose output is not read to the end. */
describe.skipIf(serverUrl === null)('a command whose reader has ended', () => {
  const applied = 'SELECT FROM _prisma_migrations WHERE finished_at IS NOT NULL';

  test('completes without an error message', async () => {
    const url = await freshServerDatabase();
    const { child, ended } = startCommand(['migrate'], { DATABASE_URL: url });
    child.stdout?.destroy();
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
    expect(await query(url, applied)).not.toEqual([]);
  });

  test.skipIf(process.platform !== 'linux')('does not fail because standard error is full', async () => {
    const url = await freshServerDatabase();
    await succeed(['migrate'], { DATABASE_URL: url });
    const { child, ended } = startCommand(['backup', '-'], { DATABASE_URL: url }, { output: '/dev/null' });
    child.stderr?.destroy();
    expect(await ended).toMatchObject({ code: 0 });
    const full = { output: '/dev/null', errors: '/dev/full' };
    expect(await startCommand(['backup', '-'], { DATABASE_URL: url }, full).ended).toMatchObject({ code: 0 });
  });

  test('fails if its output is the result', async () => {
    const url = await freshServerDatabase();
    await succeed(['migrate'], { DATABASE_URL: url });
    const { child, ended } = startCommand(['backup', '-'], { DATABASE_URL: url });
    child.stdout?.destroy();
    const { code, stderr } = await ended;
    expect(stderr).toMatch(/EPIPE.*The program that reads the output ended/);
    expect(code).toBe(1);
  });

  test.skipIf(process.platform !== 'linux')('fails if a device does not accept the output', async () => {
    const url = await freshServerDatabase();
    const run = await startCommand(['migrate'], { DATABASE_URL: url }, { output: '/dev/full' }).ended;
    expect(run.stderr).toMatch(/The output is incomplete: ENOSPC.*The disk is full/);
    expect(run.stderr).not.toMatch(/\n +at /);
    expect(run.code).toBe(1);
    expect(await query(url, applied)).not.toEqual([]);
  });
});
