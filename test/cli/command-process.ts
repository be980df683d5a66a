import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { root } from '../setup/process.ts';
import type { CommandRun } from './run-command.ts';

/** The built command line in a process of its own, as an operator runs it. */
export interface CommandProcess {
  readonly child: ChildProcess;
  /** When it has ended; the code is null where a signal ended it. */
  readonly ended: Promise<Omit<CommandRun, 'code'> & { readonly code: number | null }>;
}

export interface ProcessOptions {
  /** Of the files that it may write, in the blocks of `ulimit -f`, of 512 bytes. */
  readonly limit?: number | 'unlimited';
  /** A file that takes its standard output, as `>` has it. */
  readonly output?: string;
  /** A file that takes its standard error. */
  readonly errors?: string;
  /** Who it runs as, by number; only root can have it run as another. */
  readonly user?: number | undefined;
}

export function startCommand(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  { limit = 'unlimited', output, errors, user }: ProcessOptions = {},
): CommandProcess {
  const sent = [output === undefined ? '' : '> "$OUTPUT"', errors === undefined ? '' : '2> "$ERRORS"'].join(
    ' ',
  );
  const script = `ulimit -f ${limit} && exec "$@" ${sent}`;
  const child = spawn('sh', ['-c', script, 'sh', process.execPath, 'dist/cli/main.js', ...words], {
    cwd: root,
    env: { PATH: process.env.PATH, OUTPUT: output, ERRORS: errors, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    uid: user,
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const ended = once(child, 'close').then(() => ({ code: child.exitCode, stdout, stderr }));
  return { child, ended };
}
