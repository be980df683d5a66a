import type { Report } from './report.ts';
import type { Comparison } from './scenario.ts';
import type { Goal } from './targets.ts';

/** The report as a person reads it at a terminal. */
export function formatReport(report: Report): string {
  const { machine, database, redis, connections } = report;
  const where =
    database === 'embedded'
      ? 'embedded database, whose CPU time is the service’s own'
      : 'PostgreSQL server, whose CPU time is not counted';
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.system}, Node.js ${machine.node}`,
    `${connections} connections; ${where}${redis ? '; Redis' : ''}`,
    '',
    ...scenarioTable(report),
    ...report.refused.map(({ name, fault }) => `\nNot measured: ${name}\n  ${fault}`),
    ...ratioTable(report),
    ...figureTable(report),
    ...targetTable(report),
    '',
  ].join('\n');
}

const scenarioTable = ({ scenarios }: Report): string[] =>
  table(
    ['scenario', 'requests', 'per second', 'per CPU-second', 'CPU µs', 'main thread µs', 'p50 ms', 'p99 ms'],
    scenarios.map((each) => [
      each.name,
      whole(each.requests),
      whole(each.requestsPerSecond),
      whole(each.requestsPerCpuSecond),
      whole(each.cpuMicrosecondsPerRequest),
      whole(each.mainThreadMicrosecondsPerRequest),
      each.p50Milliseconds.toFixed(1),
      each.p99Milliseconds.toFixed(1),
    ]),
  );

const ratioTable = ({ ratios }: Report): string[] =>
  section(
    ['ratio', 'of', 'median', 'least', 'most', 'goal'],
    ratios.map((ratio) => [
      `${ratio.measured} / ${ratio.against}`,
      figures[ratio.of],
      ...[ratio.median, ratio.least, ratio.most].map(short),
      formatGoal(ratio),
    ]),
  );

const figureTable = ({ figures }: Report): string[] =>
  section(
    ['figure', 'unit', 'median', 'least', 'most'],
    figures.map(({ name, unit, value, least = value, most = value }) => [
      name,
      unit,
      ...[value, least, most].map(short),
    ]),
  );

const targetTable = ({ targets }: Report): string[] =>
  section(
    ['target', 'goal', 'reached', ''],
    targets.map(({ what, goal, unit, reached, isMet }) => [
      what,
      formatGoal(goal),
      reached === null ? 'not measured' : `${short(reached)} ${unit}`.trim(),
      isMet === null ? '' : isMet ? 'yes' : 'no',
    ]),
  );

/** A table with an empty line before it; nothing at all without rows. */
const section = (head: readonly string[], rows: readonly (readonly string[])[]): string[] =>
  rows.length === 0 ? [] : ['', ...table(head, rows)];

const short = (value: number): string => (Math.abs(value) < 1000 ? value.toFixed(2) : whole(value));

const figures: Record<Comparison['of'], string> = {
  cost: 'CPU a request',
  rate: 'requests a CPU-second',
  mainThreadRate: 'requests a main-thread second',
  throughput: 'requests a second',
  p50: 'p50',
};

function formatGoal({ atMost, atLeast }: Goal): string {
  if (atMost !== undefined) return `at most ${short(atMost)}`;
  return atLeast === undefined ? '' : `at least ${short(atLeast)}`;
}

const whole = (number: number): string => Math.round(number).toLocaleString('en-US');

/** Columns as wide as they need, the first to the left and numbers to the right. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const format = (line: readonly string[]) =>
    line
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [format(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(format)];
}
