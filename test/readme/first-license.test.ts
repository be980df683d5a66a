import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { root, startServiceProcess } from '../setup/process.ts';

interface Step {
  readonly command: string;
  readonly output: string;
}

/** The commands of "A first license in five minutes", each with the output that the README shows. */
function readSteps(): Step[] {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const pattern = /<!-- tested -->\n```sh\n([\s\S]*?)```\n[\s\S]*?```(?:json)?\n([\s\S]*?)```/g;
  return [...readme.matchAll(pattern)].map(([, command = '', output = '']) => ({ command, output }));
}

/** What differs from run to run. */
const normalize = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<instant>')
    .replaceAll(/[A-Za-z0-9+/]{43}=/g, '<public key>')
    .replaceAll(/[2-9A-HJ-NP-Z]{5}(-[2-9A-HJ-NP-Z]{5}){4}/g, '<license key>')
    .replaceAll(/"keyPrefix":"[2-9A-HJ-NP-Z]{5}-"/g, '"keyPrefix":"<prefix>"')
    .trim();

test("the README's first license, run as it stands, answers what the README shows", async () => {
  const steps = readSteps();
  expect(steps.length).toBe(4);
  const service = await startServiceProcess({ DATA_DIR: 'memory:' });
  // Below the package, so that 'latchkey/client' is found as it is in the reader's folder.
  const folder = mkdtempSync(join(root, 'dist/readme-'));
  try {
    for (const { command, output } of steps) {
      const script = command.replaceAll('http://127.0.0.1:4000', service.url);
      const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
        cwd: folder,
      });
      expect(normalize(stdout)).toBe(normalize(output));
    }
  } finally {
    rmSync(folder, { recursive: true });
    await service.stop();
  }
});
