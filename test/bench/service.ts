import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { rateLimitDefaults } from '../../src/ephemeral/rate-limits.ts';
import { UsageError } from '../setup/command-line.ts';
import { endProcess } from './end-process.ts';
import type { Undo } from './undo.ts';

/** A server in a process of its own, on this machine. */
export interface MeasuredProcess {
  readonly port: number;
  readonly pid: number;
  /** The last of what it has written. */
  output(): string;
}

/** The service, as `npm start` runs it. */
export interface ServiceProcess extends MeasuredProcess {
  /** What it holds in memory after its garbage is collected. @throws {Error} unless it was started to be probed */
  memory(): Promise<Memory>;
}

/** In bytes, as `process.memoryUsage()` has it; and how many timers, sockets and requests are open. */
export type Memory = z.output<typeof memory>;
const memory = z.object({ heapUsed: z.number(), rss: z.number(), handles: z.number() });

export interface ServiceOptions {
  /** Load a probe ahead of the service's program that tells what memory it holds. */
  readonly probed?: boolean;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = 'dist/main.js';
const probe = new URL('memory-probe.mjs', import.meta.url).href;
const startLimitMilliseconds = 120_000;
const outputLimit = 20_000;

/** The whole load comes from one address, which no limit is to stop. */
const rateLimits = Object.keys(rateLimitDefaults)
  .map((name) => `${name}=999999999`)
  .join(',');

/**
 * Starts the built service on a free port of this machine, and waits until it answers; `undo` stops it.
 * NODE_OPTIONS is passed on, so that a run can be profiled.
 * @throws {UsageError} when it is not built
 */
export async function startService(
  env: Readonly<Record<string, string>>,
  undo: Undo,
  { probed = false }: ServiceOptions = {},
): Promise<ServiceProcess> {
  if (!existsSync(`${root}/${program}`)) throw new UsageError(`There is no ${program}: run npm run build`);
  const port = await freePort();
  const { PATH, NODE_OPTIONS } = process.env;
  const child = spawn(process.execPath, [...(probed ? ['--import', probe] : []), program], {
    cwd: root,
    env: {
      ...(PATH !== undefined && { PATH }),
      ...(NODE_OPTIONS !== undefined && { NODE_OPTIONS }),
      PORT: String(port),
      LOG_LEVEL: 'warn',
      RATE_LIMITS: rateLimits,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', ...(probed ? (['ipc'] as const) : [])],
  });
  undo.add(() => endProcess(child));
  // Where this process dies of a fault of its own, nothing else is undone.
  process.on('exit', () => child.kill('SIGKILL'));
  let output = '';
  child.once('exit', (code, signal) => {
    output += `The service ended with ${signal ?? code}\n`;
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output = (output + String(chunk)).slice(-outputLimit);
    });
  }
  await untilHealthy(port, () => {
    if (child.exitCode !== null) throw new Error(`The service ended with ${child.exitCode}:\n${output}`);
  });
  if (child.pid === undefined) throw new Error('The service did not start');
  const ask = async (): Promise<Memory> => {
    if (!probed) throw new Error('The service was not started to be probed');
    const answer = once(child, 'message');
    child.send('memory');
    return memory.parse((await answer)[0]);
  };
  return { port, pid: child.pid, output: () => output, memory: ask };
}

async function untilHealthy(port: number, check: () => void): Promise<void> {
  const deadline = performance.now() + startLimitMilliseconds;
  while (performance.now() < deadline) {
    check();
    const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => null);
    if (answer?.ok === true) return;
    await sleep(50);
  }
  throw new Error(`The service did not answer within ${startLimitMilliseconds / 1000} s`);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = z.object({ port: z.number() }).parse(probe.address());
  probe.close();
  await once(probe, 'close');
  return port;
}

/** A failure of a run is often told best by what the service has logged. */
export const withOutput =
  (service: MeasuredProcess) =>
  (error: unknown): never => {
    const output = service.output();
    if (output === '' || !(error instanceof Error)) throw error;
    throw new Error(`${error.message}\nThe service's last words:\n${output}`, { cause: error });
  };
