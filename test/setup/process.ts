import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

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

/** Runs `npm start`'s own command until it answers /health. */
export async function startServiceProcess(env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const port = await freePort();
  const child = spawn(process.execPath, ['dist/main.js'], {
    cwd: root,
    env: { PATH: process.env.PATH, PORT: String(port), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const exited = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  await untilHealthy(url, () => {
    if (child.exitCode !== null) throw new Error(`The service ended with ${child.exitCode}:\n${output}`);
  });
  if (child.pid === undefined) throw new Error('The service did not start');
  return {
    url,
    pid: child.pid,
    output: () => output,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      await exited;
      return child.exitCode;
    },
  };
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
