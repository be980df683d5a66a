import type { Report } from './report.ts';
import type { Comparison } from './scenario.ts';

/** The report as a person reads it at a terminal. */
export function formatReport(report: Report): string {
  const { machine, database, connections } = report;
  const where =
    database === 'embedded'
      ? 'embedded database, whose CPU time is the service’s own'
      : 'PostgreSQL server, whose CPU time is not counted';
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.system}, Node.js ${machine.node}`,
    `${connections} connections; ${where}`,
    '',
    ...table(
      ['scenario', 'requests', 'per CPU-second', 'CPU µs each', 'p50 ms', 'p99 ms'],
      report.scenarios.map((each) => [
        each.name,
        whole(each.requests),
        whole(each.requestsPerCpuSecond),
        whole(each.cpuMicrosecondsPerRequest),
        each.p50Milliseconds.toFixed(1),
        each.p99Milliseconds.toFixed(1),
      ]),
    ),
    ...report.refused.map(({ name, fault }) => `\nNot measured: ${name}\n  ${fault}`),
    ...(report.ratios.length === 0
      ? []
      : [
          '',
          ...table(
            ['ratio', 'of', 'median', 'least', 'most', 'goal'],
            report.ratios.map((ratio) => [
              `${ratio.measured} / ${ratio.against}`,
              figures[ratio.of],
              ...[ratio.median, ratio.least, ratio.most].map((value) => value.toFixed(2)),
              goalOf(ratio),
            ]),
          ),
        ]),
    '',
  ].join('\n');
}

const figures: Record<Comparison['of'], string> = {
  cost: 'CPU a request',
  rate: 'requests a CPU-second',
  p50: 'p50',
};

function goalOf({ atMost, atLeast }: Pick<Comparison, 'atMost' | 'atLeast'>): string {
  if (atMost !== undefined) return `at most ${atMost.toFixed(2)}`;
  return atLeast === undefined ? '' : `at least ${atLeast.toFixed(2)}`;
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
