import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface RunOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Show what it writes as it comes. */
  readonly isShown?: boolean;
}

export interface RunResult {
  readonly code: number | null;
  /** The last of what it wrote. */
  readonly output: string;
  readonly seconds: number;
}

const outputLimit = 20_000;

/** Runs a program to its end. */
export async function run(command: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const start = performance.now();
  const { cwd, env, isShown = false } = options;
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      if (isShown) process.stderr.write(chunk);
      output = (output + String(chunk)).slice(-outputLimit);
    });
  }
  await once(child, 'close');
  return { code: child.exitCode, output, seconds: (performance.now() - start) / 1000 };
}
