import { arch, availableParallelism, cpus, platform } from 'node:os';
import type { Block } from './block.ts';
import type { BenchDatabase } from './database.ts';
import type { BenchOptions } from './options.ts';
import type { Measured, Refused } from './run.ts';
import type { Comparison } from './scenario.ts';
import { median, quantile, sum } from './statistics.ts';

/** What a run found, as `--json` writes it. */
export interface Report {
  readonly at: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly system: string;
    readonly node: string;
  };
  readonly database: BenchDatabase['kind'];
  readonly connections: number;
  readonly scenarios: readonly ScenarioReport[];
  /** Scenarios that the service did not answer as it should; they were not measured. */
  readonly refused: readonly Refused[];
  readonly ratios: readonly Ratio[];
}

interface ScenarioReport {
  readonly name: string;
  readonly requests: number;
  readonly requestsPerCpuSecond: number;
  readonly cpuMicrosecondsPerRequest: number;
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
  readonly blocks: readonly {
    readonly requests: number;
    readonly seconds: number;
    readonly cpuSeconds: number;
  }[];
}

/** How one figure of two scenarios compares: of the blocks of one round, the middle, least and most. */
interface Ratio extends Comparison {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export interface Findings {
  readonly options: BenchOptions;
  readonly database: BenchDatabase;
  readonly measured: readonly Measured[];
  readonly refused: readonly Refused[];
  readonly comparisons: readonly Comparison[];
}

export const toReport = ({ options, database, measured, refused, comparisons }: Findings): Report => ({
  at: new Date().toISOString(),
  machine: {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    system: `${platform()} ${arch()}`,
    node: process.version,
  },
  database: database.kind,
  connections: options.connections,
  scenarios: measured.map(scenarioReport),
  refused,
  ratios: comparisons.flatMap((comparison) => ratioOf(comparison, measured)),
});

function scenarioReport({ name, blocks }: Measured): ScenarioReport {
  const requests = sum(blocks.map((block) => block.requests));
  const cpuSeconds = sum(blocks.map((block) => block.cpuSeconds));
  const latencies = blocks.flatMap((block) => block.latencies);
  return {
    name,
    requests,
    requestsPerCpuSecond: requests / cpuSeconds,
    cpuMicrosecondsPerRequest: (cpuSeconds / requests) * 1e6,
    p50Milliseconds: quantile(latencies, 0.5),
    p99Milliseconds: quantile(latencies, 0.99),
    blocks: blocks.map(({ latencies: _, ...block }) => block),
  };
}

/** None when a side was not measured. */
function ratioOf(comparison: Comparison, measured: readonly Measured[]): Ratio[] {
  const blocksOf = (name: string) => measured.find((each) => each.name === name)?.blocks ?? [];
  const against = blocksOf(comparison.against);
  const ratios = blocksOf(comparison.measured).flatMap((block, round) => {
    const other = against[round];
    return other === undefined ? [] : [figureOf(block, comparison) / figureOf(other, comparison)];
  });
  if (ratios.length === 0) return [];
  return [{ ...comparison, median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) }];
}

function figureOf({ requests, cpuSeconds, latencies }: Block, { of }: Comparison): number {
  switch (of) {
    case 'cost':
      return cpuSeconds / requests;
    case 'rate':
      return requests / cpuSeconds;
    case 'p50':
      return quantile(latencies, 0.5);
  }
}
