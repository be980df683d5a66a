/** @module-tag slow */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { createServerDatabase, serverUrl } from '../setup/database.ts';
import { root } from '../setup/process.ts';

/** The benchmark as a program: that it measures what it says and leaves nothing behind, never how fast anything is. */

const hasProc = existsSync('/proc/self/stat');

interface Run {
  readonly pid: number;
  /** Where the run puts its temporary files. */
  readonly directory: string;
  output(): string;
  interrupt(): void;
  readonly code: Promise<number | null>;
}

async function startBench(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Run> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-bench-test-'));
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/bench/main.ts', ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, TMPDIR: directory, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  }
  const code = once(child, 'close').then(() => child.exitCode);
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await code;
    await rm(directory, { recursive: true, force: true });
  });
  if (child.pid === undefined) throw new Error('The benchmark did not start');
  return { pid: child.pid, directory, output: () => output, interrupt: () => child.kill('SIGINT'), code };
}

const tiny = ['--seconds', '0.3', '--blocks', '2', '--connections', '2'];
const measured = z.number().positive();
const report = z.object({
  database: z.string(),
  connections: z.literal(2),
  scenarios: z.array(
    z.object({
      name: z.string(),
      requests: measured,
      requestsPerCpuSecond: measured,
      cpuMicrosecondsPerRequest: measured,
      p50Milliseconds: measured,
      p99Milliseconds: measured,
      blocks: z.array(z.object({ requests: measured, seconds: measured, cpuSeconds: measured })).length(2),
    }),
  ),
  refused: z.array(z.unknown()).length(0),
  ratios: z.array(
    z.object({
      measured: z.string(),
      against: z.string(),
      median: measured,
      least: measured,
      most: measured,
    }),
  ),
  figures: z.array(z.object({ name: z.string(), value: measured })),
  targets: z.array(
    z.object({
      what: z.string(),
      goal: z.union([z.object({ atMost: measured }), z.object({ atLeast: measured })]),
      reached: measured.nullable(),
      isMet: z.boolean().nullable(),
    }),
  ),
});

async function runToReport(args: readonly string[]) {
  const jsonDirectory = await mkdtemp(join(tmpdir(), 'latchkey-bench-json-'));
  onTestFinished(() => rm(jsonDirectory, { recursive: true, force: true }));
  const file = join(jsonDirectory, 'report.json');
  const run = await startBench([...tiny, '--json', file, ...args]);
  expect(await run.code, run.output()).toBe(0);
  expect((await readdir(run.directory)).filter((name) => name.startsWith('latchkey-'))).toEqual([]);
  const found = report.parse(JSON.parse(await readFile(file, 'utf8')));
  for (const { name } of found.scenarios) expect(run.output()).toContain(name);
  return found;
}

test.skipIf(!hasProc)(
  'drives the scenarios that are chosen, and compares them with each other',
  async () => {
    const { database, scenarios, ratios } = await runToReport(['--only', '50 LICENSES']);
    expect(database).toBe('embedded');
    expect(scenarios.map(({ name }) => name)).toEqual([
      'REST: 50 licenses',
      'GraphQL: 50 licenses, the same fields as REST',
    ]);
    for (const { requests, blocks } of scenarios) {
      expect(blocks.reduce((total, block) => total + block.requests, 0)).toBe(requests);
    }
    expect(ratios).toHaveLength(1);
    for (const { least, median, most } of ratios) {
      expect(least).toBeLessThanOrEqual(median);
      expect(median).toBeLessThanOrEqual(most);
    }
  },
  240_000,
);

test.skipIf(!hasProc)(
  'drives the service and the bare program with fresh sealed requests, and finds each validation in the log',
  async () => {
    const { scenarios, ratios, figures, targets } = await runToReport(['--only', 'sealed validate']);
    expect(scenarios.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['client: sealed validate', 'bare program: sealed validate']),
    );
    expect(ratios.length).toBeGreaterThan(0);
    expect(figures).toEqual([{ name: 'validations in the log, to those answered', value: 1 }]);
    const reached = targets.filter((target) => target.reached !== null).map(({ what }) => what);
    expect(reached).toContain('sealed validate, to the bare program, on the embedded database');
    for (const target of targets) expect(target.isMet === null).toBe(target.reached === null);
  },
  240_000,
);

test.skipIf(!hasProc)(
  'drives calls of version 2, and finds each validation in the log',
  async () => {
    const { scenarios, ratios, figures, targets } = await runToReport(['--only', 'call validate']);
    expect(scenarios.map(({ name }) => name)).toEqual([
      'client: call validate',
      'bare program: call validate',
    ]);
    expect(ratios.length).toBeGreaterThan(0);
    expect(figures).toEqual([{ name: 'validations in the log, to those answered', value: 1 }]);
    const reached = targets.filter((target) => target.reached !== null).map(({ what }) => what);
    expect(reached).toContain('call validate, to the bare program');
  },
  240_000,
);

test.skipIf(!hasProc)(
  'states what a junk call costs in signatures, and fetches key statements',
  async () => {
    const { scenarios, figures } = await runToReport(['--only', 'junk call', '--only', 'key statement']);
    expect(scenarios).toHaveLength(4);
    expect(figures.map(({ name }) => name)).toEqual([
      'an Ed25519 signature, CPU',
      'junk call, all of it, in signatures',
      'junk call, beyond one that is too short, in signatures',
    ]);
  },
  240_000,
);

test.skipIf(!hasProc || serverUrl === null)(
  'measures on a PostgreSQL server, in a database that it drops',
  async () => {
    const own = await createServerDatabase();
    onTestFinished(own.drop);
    const { database, scenarios } = await runToReport([
      '--only',
      'REST: 50 licenses',
      '--database-url',
      own.url,
    ]);
    expect(database).toBe('server');
    expect(scenarios).toHaveLength(1);
  },
  240_000,
);

test.skipIf(!hasProc)(
  'Ctrl-C, once or twice, stops the service and removes its data',
  async () => {
    const run = await startBench(['--only', 'REST: 50 licenses', '--seconds', '30']);
    const driving = vi.waitFor(() => expect(run.output()).toContain('Driving'), {
      timeout: 200_000,
      interval: 20,
    });
    // A run that ends by itself has nothing to wait for.
    await Promise.race([driving, run.code.then(() => expect(run.output()).toContain('Driving'))]);
    const service = await serviceOf(run.pid);
    run.interrupt();
    run.interrupt();
    expect(await run.code).toBe(1);
    expect(run.output()).toContain('Interrupted by SIGINT');
    expect(existsSync(`/proc/${service}`)).toBe(false);
    expect((await readdir(run.directory)).filter((name) => name.startsWith('latchkey-'))).toEqual([]);
  },
  240_000,
);

/** The process id of the service that this process has started. */
async function serviceOf(pid: number): Promise<string> {
  for (const name of await readdir('/proc')) {
    const [line, command] = await Promise.all(
      ['stat', 'cmdline'].map((file) => readFile(`/proc/${name}/${file}`, 'latin1').catch(() => '')),
    );
    const parent = line?.slice(line.lastIndexOf(')') + 2).split(' ')[1];
    if (parent === String(pid) && command?.includes('dist/main.js')) return name;
  }
  throw new Error(`The benchmark ${pid} has no service`);
}

test.each([
  [['--seconds', 'soon'], '--seconds must be a number from 0.1 to 60'],
  [['--connections', '0'], '--connections must be a whole number from 1 to 256'],
  [['--blocks', '1.5'], '--blocks must be a whole number from 1 to 100'],
  [['--database-url', 'mysql://a'], 'must be a URL that starts with postgresql://'],
  [['--fast'], "Unknown option '--fast'"],
])('%j is refused before anything starts', async (args, message) => {
  const run = await startBench(args);
  expect(await run.code).toBe(1);
  expect(run.output()).toContain(message);
  expect(run.output()).not.toContain('Starting');
});

test('--help says what can be asked', async () => {
  const run = await startBench(['--help']);
  expect(await run.code).toBe(0);
  for (const option of [
    '--seconds',
    '--blocks',
    '--connections',
    '--only',
    '--json',
    '--scale',
    '--memory',
  ]) {
    expect(run.output()).toContain(option);
  }
});
