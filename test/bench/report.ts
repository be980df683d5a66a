import { arch, availableParallelism, cpus, platform } from 'node:os';
import type { Block } from './block.ts';
import type { BenchOptions } from './options.ts';
import type { Figure, PartFindings } from './part.ts';
import type { Measured, Refused } from './run.ts';
import type { ComparedFigure, Comparison } from './scenario.ts';
import { median, quantile, sum } from './statistics.ts';
import { type TargetReport, targetReports } from './targets.ts';

/** What a run found, as `--json` writes it. */
export interface Report {
  readonly at: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly system: string;
    readonly node: string;
  };
  readonly database: 'embedded' | 'server';
  readonly redis: boolean;
  readonly connections: number;
  readonly scenarios: readonly ScenarioReport[];
  /** Scenarios that the service did not answer as it should; they were not measured. */
  readonly refused: readonly Refused[];
  readonly ratios: readonly Ratio[];
  readonly figures: readonly Figure[];
  readonly targets: readonly TargetReport[];
}

export interface ScenarioReport {
  readonly name: string;
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly requestsPerCpuSecond: number;
  readonly cpuMicrosecondsPerRequest: number;
  readonly mainThreadMicrosecondsPerRequest: number;
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
  readonly blocks: readonly Omit<Block, 'latencies'>[];
}

/** How one figure of two scenarios compares: of the blocks of one round, the middle, least and most. */
export interface Ratio extends Comparison {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export function toReport(options: BenchOptions, findings: readonly PartFindings[]): Report {
  const database = options.databaseUrl === null ? 'embedded' : 'server';
  const results = {
    scenarios: findings.flatMap(({ measured }) => measured.map(scenarioReport)),
    ratios: findings.flatMap(({ comparisons, measured }) =>
      comparisons.flatMap((comparison) => ratioOf(comparison, measured)),
    ),
    figures: findings.flatMap(({ figures }) => figures),
  };
  return {
    at: new Date().toISOString(),
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: availableParallelism(),
      system: `${platform()} ${arch()}`,
      node: process.version,
    },
    database,
    redis: options.redisUrl !== null,
    connections: options.connections,
    ...results,
    refused: findings.flatMap(({ refused }) => refused),
    targets: targetReports(database, results),
  };
}

function scenarioReport({ name, blocks }: Measured): ScenarioReport {
  const total = (figure: (block: Block) => number) => sum(blocks.map(figure));
  const requests = total((block) => block.requests);
  const cpuSeconds = total((block) => block.cpuSeconds);
  const latencies = blocks.flatMap((block) => block.latencies);
  return {
    name,
    requests,
    requestsPerSecond: requests / total((block) => block.seconds),
    requestsPerCpuSecond: requests / cpuSeconds,
    cpuMicrosecondsPerRequest: (cpuSeconds / requests) * 1e6,
    mainThreadMicrosecondsPerRequest: (total((block) => block.mainThreadSeconds) / requests) * 1e6,
    p50Milliseconds: quantile(latencies, 0.5),
    p99Milliseconds: quantile(latencies, 0.99),
    blocks: blocks.map(({ latencies: _, ...block }) => block),
  };
}

/** None when a side was not measured, or used no CPU time that the system's clock has counted. */
function ratioOf(comparison: Comparison, measured: readonly Measured[]): Ratio[] {
  const blocksOf = (name: string) => measured.find((each) => each.name === name)?.blocks ?? [];
  const against = blocksOf(comparison.against);
  const ratios = blocksOf(comparison.measured)
    .flatMap((block, round) => {
      const other = against[round];
      return other === undefined ? [] : [figureOf(block, comparison.of) / figureOf(other, comparison.of)];
    })
    .filter((ratio) => Number.isFinite(ratio) && ratio > 0);
  if (ratios.length === 0) return [];
  return [{ ...comparison, median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) }];
}

function figureOf(
  { requests, seconds, cpuSeconds, mainThreadSeconds, latencies }: Block,
  of: ComparedFigure,
) {
  switch (of) {
    case 'cost':
      return cpuSeconds / requests;
    case 'rate':
      return requests / cpuSeconds;
    case 'mainThreadRate':
      return requests / mainThreadSeconds;
    case 'throughput':
      return requests / seconds;
    case 'p50':
      return quantile(latencies, 0.5);
  }
}
