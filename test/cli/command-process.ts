import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { root } from '../setup/process.ts';
import type { CommandRun } from './run-command.ts';

/** The built command line as a process, as an operator runs it. */
export interface CommandProcess {
  readonly child: ChildProcess;
  /** Resolves when the process has ended. The code is null if a signal ended it. */
  readonly ended: Promise<Omit<CommandRun, 'code'> & { readonly code: number | null }>;
}

export interface ProcessOptions {
  /** The file size limit in blocks of 512 bytes, as for `ulimit -f`. */
  readonly limit?: number | 'unlimited';
  /** A file for its standard output, as with `>`. */
  readonly output?: string;
  /** A file for its standard error. */
  readonly errors?: string;
  /** The uid to run as. Only root can choose another user. */
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
