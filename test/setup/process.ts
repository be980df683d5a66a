import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { elsewhere, innerPid } from './elsewhere.ts';

/** The repository's root. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** The built service in a process of its own, as an operator runs it. */
export interface ServiceProcess {
  readonly url: string;
  readonly pid: number;
  /** What it has written so far. */
  output(): string;
  /** Asks it to stop, and waits; answers its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface ProcessOptions {
  /** As in another container. */
  readonly isElsewhere?: boolean;
  /** As this user and group, which the superuser may choose. */
  readonly userId?: number;
  /** From another installation than this one. */
  readonly installation?: string;
  /** A file that is open, for its standard output. */
  readonly output?: number;
}

/** Runs `npm start`'s own command until it answers /health: on `PORT`, or on a port that is free. */
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
      // A number that is free again may be another's by now.
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
