import { writeFile } from 'node:fs/promises';
import { bareLikeService } from './bare/like-service.ts';
import { startBare } from './bare/process.ts';
import { requireCpuTime } from './cpu-time.ts';
import { createDatabase } from './database.ts';
import { type BenchOptions, help, parseOptions, UsageError } from './options.ts';
import { type Report, toReport } from './report.ts';
import { runScenarios, sortOut } from './run.ts';
import { allComparisons, allScenarios } from './scenarios/all.ts';
import { seed } from './seed.ts';
import { type ServiceProcess, startService } from './service.ts';
import { formatReport } from './table.ts';
import { createUndo, type Undo } from './undo.ts';

/** `npm run bench`: what requests cost the built service. See the README beside this file. */
async function bench(options: BenchOptions, undo: Undo, signal: AbortSignal): Promise<Report> {
  requireCpuTime();
  say('Starting the service …');
  const database = await createDatabase(options.databaseUrl, undo);
  signal.throwIfAborted();
  const service = await startService(database.env, undo);
  say('Filling it through its API …');
  const found = await seed(`http://127.0.0.1:${service.port}`);
  signal.throwIfAborted();
  const { material, publicKeyB64 } = await bareLikeService(found);
  const bare = await startBare(material, undo);
  signal.throwIfAborted();
  const targets = { service, bare };
  const clients = {
    service: found.client,
    bare: { ...found.client, publicKeyB64, baseUrl: `http://127.0.0.1:${bare.port}` },
  };
  const scenarios = selected(allScenarios({ seed: found, clients }), options.only);
  const { answered, refused } = await sortOut(scenarios, targets);
  say(
    `Driving ${answered.length} scenarios, ${options.blocks} blocks of ${options.secondsPerBlock} s each …`,
  );
  const measured = await runScenarios(answered, {
    targets,
    connections: options.connections,
    seconds: options.secondsPerBlock,
    blocks: options.blocks,
    signal,
  }).catch(withOutput(service));
  return toReport({ options, database, measured, refused, comparisons: allComparisons });
}

function selected<Named extends { readonly name: string }>(
  scenarios: readonly Named[],
  only: readonly string[],
): readonly Named[] {
  if (only.length === 0) return scenarios;
  const found = scenarios.filter(({ name }) =>
    only.some((part) => name.toLowerCase().includes(part.toLowerCase())),
  );
  if (found.length > 0) return found;
  const names = scenarios.map(({ name }) => `  ${name}\n`).join('');
  throw new UsageError(
    `No scenario has ${only.map((part) => `"${part}"`).join(' or ')} in its name:\n${names}`,
  );
}

/** A failure of a run is often told best by what the service has logged. */
const withOutput =
  (service: ServiceProcess) =>
  (error: unknown): never => {
    const output = service.output();
    if (output === '' || !(error instanceof Error)) throw error;
    throw new Error(`${error.message}\nThe service's last words:\n${output}`, { cause: error });
  };

/** Progress goes beside the report, which may be piped. */
const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2), process.env.DATABASE_URL);
  if (options === null) {
    process.stdout.write(help);
    return 0;
  }
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
  } finally {
    await undo.all();
  }
}

// What was interrupted may still wait for something; all that it started has been ended.
main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    say(error instanceof UsageError ? error.message : describe(error));
    process.exit(1);
  },
);

const describe = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
