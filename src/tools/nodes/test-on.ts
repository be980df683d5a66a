import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { z } from 'zod';
import { findNode } from './binary.ts';
import { run } from './run.ts';

/** How the suite went on one Node.js. */
export interface NodeReport {
  readonly node: string;
  readonly passed: number;
  readonly failed: number;
  readonly leftOut: number;
  readonly seconds: number;
  /** What went wrong before or beside the tests; null where nothing did. */
  readonly fault: string | null;
}

const results = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
});

/**
 * Installs and tests the last commit of a repository, as somebody does who has just cloned it, with one Node.js first
 * on the path: npm runs on it too.
 */
export async function testOn(
  major: number,
  { repository, vitest }: { readonly repository: string; readonly vitest: readonly string[] },
): Promise<NodeReport> {
  const start = performance.now();
  const { version, folder } = await findNode(major);
  const clone = await mkdtemp(join(tmpdir(), `latchkey-node-${major}-`));
  const report = (counted: Partial<NodeReport>): NodeReport => ({
    node: version,
    passed: 0,
    failed: 0,
    leftOut: 0,
    fault: null,
    seconds: (performance.now() - start) / 1000,
    ...counted,
  });
  try {
    const env = { ...process.env, PATH: [folder, process.env.PATH].join(delimiter) };
    const steps: readonly [string, readonly string[]][] = [
      ['git', ['clone', '--quiet', repository, clone]],
      ['npm', ['ci', '--no-audit', '--no-fund']],
    ];
    for (const [command, args] of steps) {
      const { code, output } = await run(command, args, { cwd: clone, env });
      if (code !== 0) return report({ fault: `${command} ${args[0]} ended with ${code}:\n${output}` });
    }
    const file = join(clone, 'results.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
    const tested = await run('npm', ['test', '--', ...reporters, ...vitest], {
      cwd: clone,
      env,
      isShown: true,
    });
    const text = await readFile(file, 'utf8').catch(() => null);
    if (text === null) return report({ fault: `npm test ended with ${tested.code}:\n${tested.output}` });
    const { numPassedTests, numFailedTests, numPendingTests } = results.parse(JSON.parse(text));
    const isRight = tested.code === 0 && numPassedTests > 0;
    return report({
      passed: numPassedTests,
      failed: numFailedTests,
      leftOut: numPendingTests,
      fault: isRight ? null : `npm test ended with ${tested.code}`,
    });
  } finally {
    await rm(clone, { recursive: true, force: true });
  }
}
