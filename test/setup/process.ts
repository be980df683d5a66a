import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { elsewhere, innerPid } from './elsewhere.ts';

/** The repository's root. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** The built service as a process, as an operator runs it. */
export interface ServiceProcess {
  readonly url: string;
  readonly pid: number;
  /** Its output so far. */
  output(): string;
  /** Stops it and returns its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface ProcessOptions {
  /** Run it as in another container. */
  readonly isElsewhere?: boolean;
  /** The user and group to run as. Needs root. */
  readonly userId?: number;
  /** The folder of another installation. */
  readonly installation?: string;
  /** An open file for its standard output. */
  readonly output?: number;
}

/** Runs the command of `npm start` until it answers /health, on `PORT` or a free port. */
export async function startServiceProcess(
  env: Readonly<Record<string, string>>,
  { isElsewhere = false, userId, installation = root, output: file }: ProcessOptions = {},
): Promise<ServiceProcess> {
  const port = env.PORT ?? (await freePort());
  const own = [process.execPath, 'dist/main.js'] as const;
  const [command, ...words] = isElsewhere ? elsewhere(own) : own;
  const child = spawn(command, words, {
    cwd: installation,
    ...(userId !== undefined && { uid: userId, gid: userId }),
    env: { PATH: process.env.PATH, PORT: String(port), ...env },
    stdio: ['ignore', file ?? 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  const exited = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  await untilHealthy(url, () => {
    if (child.exitCode !== null) throw new Error(`The service ended with ${child.exitCode}:\n${output}`);
  });
  if (child.pid === undefined) throw new Error('The service did not start');
  const pid = isElsewhere ? innerPid(child.pid) : child.pid;
  return {
    url,
    pid,
    output: () => output,
    stop: async (signal = 'SIGTERM') => {
      // A free port may be in use by another process by now.
      if (child.exitCode === null && child.signalCode === null) signalTo(pid, signal);
      await exited;
      return child.exitCode;
    },
  };
}

/** One that has ended needs no signal. */
function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

async function untilHealthy(url: string, check: () => void): Promise<void> {
  const deadline = Date.now() + 300_000;
  while (Date.now() < deadline) {
    check();
    const response = await fetch(`${url}/health`).catch(() => null);
    if (response?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${url} did not answer within five minutes`);
}

const address = z.object({ port: z.number() });

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = address.parse(probe.address());
  probe.close();
  await once(probe, 'close');
  return port;
}
