import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Finding, findingsOf, number, readTally } from './findings.ts';
import type { Extent } from './options.ts';

/** Runs a program to its end, in the repository; answers its exit code. */
export type Run = (
  command: string,
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
) => Promise<number | null>;

export interface PartContext {
  readonly extent: Extent;
  readonly run: Run;
  /** For the files of this run. */
  readonly directory: string;
  /** Servers to test on as well; null where there are none. */
  readonly databaseUrl: string | null;
  readonly redisUrl: string | null;
}

export interface Part {
  readonly name: string;
  readonly carryOut: (context: PartContext) => Promise<Finding[]>;
}

const results = z.object({ numPassedTests: z.number(), numFailedTests: z.number() });

/** Tests of some files, with what they tally. */
const tests =
  (
    name: string,
    files: readonly string[],
    env: (extent: Extent) => Record<string, string>,
  ): Part['carryOut'] =>
  async ({ run, directory, extent }) => {
    const tally = join(directory, `${name}.tally`);
    const report = join(directory, `${name}.json`);
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const code = await run('npx', ['vitest', 'run', ...reporters, ...files], {
      ...env(extent),
      TRUST_TALLY: tally,
    });
    const { numPassedTests, numFailedTests } = await read(report, results);
    return [
      ...findingsOf(readTally(tally)),
      { what: 'tests passed', value: number(numPassedTests), isBad: numPassedTests === 0 },
      {
        what: 'tests failed',
        value: number(numFailedTests),
        isBad: code !== 0 || numFailedTests > 0,
      },
    ];
  };

const soaked = z.object({
  database: z.string(),
  minutes: z.number(),
  requests: z.number(),
  wrongVerdicts: z.number(),
  unexpected: z.number(),
  peakRss: z.number(),
  growth: z.object({ grown: z.number(), isFlat: z.boolean() }),
  faults: z.array(z.string()),
});

async function soak({ run, directory, extent, ...urls }: PartContext): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const databaseUrl of [null, ...(urls.databaseUrl === null ? [] : [urls.databaseUrl])]) {
    const file = join(directory, `soak-${findings.length}.json`);
    const onServer =
      databaseUrl === null
        ? []
        : ['--database-url', databaseUrl, ...(urls.redisUrl === null ? [] : ['--redis-url', urls.redisUrl])];
    const args = ['--minutes', String(extent.soakMinutes), '--json', file, ...onServer];
    const code = await run('npx', ['tsx', 'test/soak/main.ts', ...args]);
    const report = await read(file, soaked);
    const on = `soak, ${report.database}`;
    findings.push(
      { what: `${on}: requests`, value: number(report.requests), isBad: report.requests === 0 },
      { what: `${on}: minutes`, value: report.minutes.toFixed(1), isBad: false },
      { what: `${on}: wrong verdicts`, value: number(report.wrongVerdicts), isBad: report.wrongVerdicts > 0 },
      { what: `${on}: unexpected answers`, value: number(report.unexpected), isBad: report.unexpected > 0 },
      { what: `${on}: peak memory, MB`, value: number(report.peakRss / 2 ** 20), isBad: false },
      {
        what: `${on}: heap after the warm-up, MB`,
        value: `${report.growth.grown < 0 ? '' : '+'}${(report.growth.grown / 2 ** 20).toFixed(1)}`,
        isBad: !report.growth.isFlat,
      },
      { what: `${on}: faults`, value: number(report.faults.length), isBad: code !== 0 },
    );
  }
  return findings;
}

const benched = z.object({
  scenarios: z.array(
    z.object({ name: z.string(), requestsPerSecond: z.number(), p99Milliseconds: z.number() }),
  ),
});

async function load({ run, directory, extent }: PartContext): Promise<Finding[]> {
  const file = join(directory, 'bench.json');
  const args = ['--only', 'sealed validate', '--json', file, ...extent.benchArguments];
  const code = await run('npx', ['tsx', 'test/bench/main.ts', ...args]);
  const { scenarios } = await read(file, benched);
  return scenarios
    .filter(({ name }) => !name.includes('bare'))
    .map(({ name, requestsPerSecond, p99Milliseconds }) => ({
      what: `load held: ${name}, a second`,
      value: `${number(requestsPerSecond)} (p99 ${p99Milliseconds.toFixed(1)} ms)`,
      isBad: code !== 0,
    }));
}

export const parts: readonly Part[] = [
  { name: 'load', carryOut: load },
  { name: 'soak', carryOut: soak },
  {
    name: 'kills',
    carryOut: tests('kills', ['test/recovery/kills.test.ts'], ({ kills }) => ({ TEST_KILLS: String(kills) })),
  },
  {
    name: 'faults',
    carryOut: tests('faults', ['test/recovery', 'test/faults'], () => ({})),
  },
  {
    name: 'parsers',
    carryOut: tests('parsers', ['test/attack/fuzz-parsers.test.ts', 'test/protocol'], ({ fuzzRuns }) => ({
      FUZZ_RUNS: String(fuzzRuns),
    })),
  },
  {
    name: 'routes',
    carryOut: tests(
      'routes',
      [
        'test/attack/fuzz-routes.test.ts',
        'test/api/hostile-input.test.ts',
        'test/graphql/hostile-input.test.ts',
      ],
      ({ routeRuns }) => ({ FUZZ_RUNS: String(routeRuns) }),
    ),
  },
  {
    name: 'calls',
    carryOut: tests('calls', ['test/attack/fuzz-calls.test.ts'], ({ callRuns }) => ({
      FUZZ_RUNS: String(callRuns),
    })),
  },
];

async function read<Schema extends z.ZodType>(file: string, schema: Schema): Promise<z.output<Schema>> {
  return schema.parse(JSON.parse(await readFile(file, 'utf8')));
}
