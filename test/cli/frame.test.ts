import { PassThrough, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { startProgress } from '../../src/cli/progress.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { runCommand } from './run-command.ts';

describe('latchkey', () => {
  test('prints help that lists every command', async () => {
    const run = await runCommand(['--help'], {});
    expect(run).toMatchObject({ code: 0, stderr: '' });
    const named = [...run.stdout.matchAll(/^ {2}([a-z-]+)(?: .*)? {2,}\S/gm)].map(([, name]) => name);
    expect(named.filter((name) => name !== 'help')).toHaveLength(commands.length);
    expect(named).toEqual(expect.arrayContaining(['migrate', 'backup', 'restore']));
  });

  test('prints its version', async () => {
    const run = await runCommand(['--version'], {});
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(run.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test.each([
    [[]],
    [['surprise']],
    [['migrate', '--surprise']],
    [['migrate', 'surprise']],
    [['backup']],
    [['restore', 'one', 'two']],
  ])('answers %j with how it is used, and 2', async (words) => {
    const run = await runCommand(words, {});
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toMatch(/latchkey/);
  });

  test.each([['migrate'], ['backup', 'x'], ['migrate', '--dry-run']])(
    'fails with one message and exit code 1: %s',
    async (...words) => {
      const run = await runCommand(words, { DATABASE_URL: 'mysql://127.0.0.1/x' });
      expect(run).toMatchObject({ code: 1, stdout: '' });
      expect(run.stderr).toMatch(/DATABASE_URL must be a URL that starts with postgresql/);
      expect(run.stderr).not.toMatch(/\n +at /);
    },
  );

  test('refuses to restore from standard input', async () => {
    const run = await runCommand(['restore', '-'], {}, { input: 'a backup' });
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/reads its file twice, .* write it to a file first/);
  });

  test('ignores invalid variables that the command does not need', async () => {
    const run = await runCommand(['migrate'], { PORT: 'x', NODE_ENV: 'production', DATA_DIR: 'memory:' });
    expect(run).toMatchObject({ code: 1 });
    expect(run.stderr).toMatch(/^DATA_DIR is "memory:"/);
  });

  test('says why a server is unreachable, without its password', async () => {
    const run = await runCommand(['migrate'], { DATABASE_URL: 'postgresql://u:hidden@127.0.0.1:1/x' });
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/Cannot reach the PostgreSQL server at 127\.0\.0\.1:1/);
    expect(run.stderr).not.toMatch(/hidden/);
  });
});

describe('progress', () => {
  function terminalOf(isTTY: boolean, env: Record<string, string> = {}) {
    let text = '';
    const stderr = new Writable({
      write(chunk, _encoding, done) {
        text += String(chunk);
        done();
      },
    });
    const terminal: Terminal = {
      env,
      stdin: new PassThrough(),
      stdout: new PassThrough(),
      stderr: Object.assign(stderr, { isTTY, columns: 100 }),
      signal: new AbortController().signal,
    };
    return { terminal, text: () => text };
  }

  test('is a bar on a terminal, which is removed at the end', () => {
    const { terminal, text } = terminalOf(true);
    const progress = startProgress(terminal, { title: 'Counting', total: 2_000, unit: 'rows' });
    progress.advance(1_000);
    expect(text()).toMatch(/█{20}░{20} Counting: 1,000 of 2,000 rows/);
    expect(text()).not.toMatch(/\n/);
    progress.end();
    expect(text().endsWith('\x1b[1G\x1b[0K')).toBe(true);
  });

  test('is a plain line at intervals elsewhere', () => {
    const { terminal, text } = terminalOf(false);
    const progress = startProgress(terminal, { title: 'Counting', total: 2, unit: 'rows', lineEvery: 0 });
    progress.advance(1);
    progress.advance(1);
    progress.end();
    expect(text()).toBe('Counting: 1 of 2 rows\nCounting: 2 of 2 rows\n');
  });

  test('prints no line for work that is done at once', () => {
    const { terminal, text } = terminalOf(false);
    const progress = startProgress(terminal, { title: 'Counting', total: 2, unit: 'rows' });
    progress.advance(2);
    progress.end();
    expect(text()).toBe('');
  });

  test('is plain on a terminal that cannot move its cursor', () => {
    const { terminal, text } = terminalOf(true, { TERM: 'dumb' });
    startProgress(terminal, { title: 'Counting', total: 2, unit: 'rows', lineEvery: 0 }).advance(1);
    expect(text()).toBe('Counting: 1 of 2 rows\n');
  });
});
