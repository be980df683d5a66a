import { writeFile } from 'node:fs/promises';
import { runTool, told, UsageError } from '../setup/command-line.ts';
import { requireCpuTime } from './cpu-time.ts';
import { type BenchOptions, help, parseOptions } from './options.ts';
import type { Part, PartFindings } from './part.ts';
import { memory } from './parts/memory.ts';
import { requests } from './parts/requests.ts';
import { scale } from './parts/scale.ts';
import { workers } from './parts/workers.ts';
import { type Report, toReport } from './report.ts';
import { formatReport } from './table.ts';
import { createUndo, type Undo } from './undo.ts';

/** `npm run bench`: what requests cost the built service. See the README beside this file. */
async function bench(options: BenchOptions, undo: Undo, signal: AbortSignal): Promise<Report> {
  requireCpuTime();
  const parts = chosenParts(options);
  const findings: PartFindings[] = [];
  for (const { names, measure } of parts) {
    const own = createUndo();
    undo.add(own.all);
    const wanted = new Set(names.filter((name) => matches(name, options.only)));
    if (wanted.size > 0) {
      const isWanted = ({ name }: { readonly name: string }) => wanted.has(name);
      findings.push(await measure({ options, undo: own, signal, isWanted, say }));
    }
    await own.all();
  }
  return toReport(options, findings);
}

function chosenParts({ only, scaleLogRows, workers: compareWorkers, memoryMinutes }: BenchOptions): Part[] {
  const parts = [
    requests,
    ...(scaleLogRows === null ? [] : [scale]),
    ...(compareWorkers ? [workers] : []),
    ...(memoryMinutes === null ? [] : [memory]),
  ];
  const names = parts.flatMap((part) => part.names);
  if (names.some((name) => matches(name, only))) return parts;
  throw new UsageError(
    `No scenario has ${only.map((part) => `"${part}"`).join(' or ')} in its name:\n${names.map((name) => `  ${name}\n`).join('')}`,
  );
}

const matches = (name: string, only: readonly string[]): boolean =>
  only.length === 0 || only.some((part) => name.toLowerCase().includes(part.toLowerCase()));

/** Progress goes beside the report, which may be piped. */
const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function run(options: BenchOptions): Promise<number> {
  const undo = createUndo();
  const interruption = new AbortController();
  // Ctrl-C under npm arrives twice; the second is the same wish.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => interruption.abort(new UsageError(`Interrupted by ${signal}`)));
  }
  const interrupted = new Promise<never>((_, reject) => {
    interruption.signal.addEventListener('abort', () => reject(interruption.signal.reason));
  });
  try {
    const report = await Promise.race([bench(options, undo, interruption.signal), interrupted]);
    process.stdout.write(`\n${formatReport(report)}`);
    if (options.jsonFile !== null) await writeFile(options.jsonFile, `${JSON.stringify(report, null, 2)}\n`);
    return report.refused.length === 0 ? 0 : 1;
  } catch (error) {
    // What ended the run is told, whatever else cannot be undone after it.
    say(told(error));
    return 1;
  } finally {
    await undo.all();
  }
}

runTool({ help, parse: parseOptions, run });
