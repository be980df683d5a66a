import { fileURLToPath } from 'node:url';
import { runTool } from '../setup/command-line.ts';
import { help, type NodesOptions, parseOptions } from './options.ts';
import { type NodeReport, testOn } from './test-on.ts';

/** `npm run test:nodes`: the last commit, installed and tested on every Node.js that it is for. */
async function run({ majors, vitest }: NodesOptions): Promise<number> {
  const repository = fileURLToPath(new URL('../..', import.meta.url));
  const reports: NodeReport[] = [];
  for (const major of majors) {
    process.stderr.write(`Node.js ${major}: installing and testing …\n`);
    reports.push(await testOn(major, { repository, vitest }));
  }
  process.stdout.write(`\n${reports.map(({ fault }) => (fault === null ? '' : `${fault}\n\n`)).join('')}`);
  process.stdout.write(`${rows(reports)}\n`);
  return reports.every(({ fault }) => fault === null) ? 0 : 1;
}

/** A table in Markdown, to quote. */
function rows(reports: readonly NodeReport[]): string {
  const lines = reports.map(({ node, passed, failed, leftOut, seconds, fault }) => [
    node,
    passed,
    failed,
    leftOut,
    `${Math.round(seconds)} s`,
    fault === null ? 'yes' : 'NO',
  ]);
  const head = ['Node.js', 'passed', 'failed', 'left out', 'took', 'all well'];
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

runTool({ help, parse: parseOptions, run });
