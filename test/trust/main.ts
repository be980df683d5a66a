import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runTool, UsageError } from '../setup/command-line.ts';
import { run as runProgram } from '../setup/run.ts';
import type { Finding } from './findings.ts';
import { help, parseOptions, type TrustOptions } from './options.ts';
import { parts, type Run } from './parts.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface PartReport {
  readonly part: string;
  readonly seconds: number;
  readonly findings: readonly Finding[];
}

/** `npm run trust`. See the README beside this file. */
async function trust({ extent, only, jsonFile }: TrustOptions): Promise<number> {
  const chosen = parts.filter(({ name }) => only.length === 0 || only.includes(name));
  if (chosen.length === 0)
    throw new UsageError(`There is no such part; there are ${parts.map(({ name }) => name).join(', ')}.`);
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-trust-'));
  const run: Run = async (command, args, env = {}) =>
    (await runProgram(command, args, { cwd: root, env: { ...process.env, ...env }, isShown: true })).code;
  const context = {
    extent,
    run,
    directory,
    databaseUrl: process.env.TEST_DATABASE_URL ?? null,
    redisUrl: process.env.TEST_REDIS_URL ?? null,
  };
  const reports: PartReport[] = [];
  try {
    for (const { name, carryOut } of chosen) {
      process.stderr.write(`\n${name} …\n`);
      const start = performance.now();
      const findings = await carryOut(context).catch((error: unknown) => [
        { what: `${name} could not be finished`, value: messageOf(error), isBad: true },
      ]);
      reports.push({ part: name, seconds: (performance.now() - start) / 1_000, findings });
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  const machine = `${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} hardware threads, Node.js ${process.version}`;
  const at = new Date().toISOString().slice(0, 10);
  process.stdout.write(`\n${at}, ${machine}\n\n${table(reports)}\n`);
  if (jsonFile !== null) await writeFile(jsonFile, `${JSON.stringify({ at, machine, reports }, null, 2)}\n`);
  return reports.some(({ findings }) => findings.some(({ isBad }) => isBad)) ? 1 : 0;
}

/** In Markdown, to quote. */
function table(reports: readonly PartReport[]): string {
  const rows = reports.flatMap(({ part, seconds, findings }) =>
    findings.map(({ what, value, isBad }, place) => [
      place === 0 ? `${part} (${Math.round(seconds)} s)` : '',
      what,
      `${value}${isBad ? ' **BAD**' : ''}`,
    ]),
  );
  return [['part', 'what', 'counted'], ['---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ');

runTool({ help, parse: parseOptions, run: trust });
