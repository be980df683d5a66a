/** @module-tag slow */

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { root, startServiceProcess } from '../setup/process.ts';
import { startLocalRegistry } from '../setup/registry.ts';
import { testedSteps } from './pages.ts';

/** What differs from run to run. An event stream has a comment as a sign of life, which says nothing. */
const normalize = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<instant>')
    .replaceAll(/-\d+\.\d+\.\d+\.tgz \(\d+ kB\)/g, '-<version>.tgz (<size>)')
    .replaceAll(/service_live_[\w-]+/g, '<API key>')
    .replaceAll(/[2-9A-HJ-NP-Z]{5}(-[2-9A-HJ-NP-Z]{5}){4}/g, '<license key>')
    .replaceAll(/\b[2-9A-HJ-NP-Z]{5}-(?=[" ])/g, '<prefix>')
    .replaceAll(/^:\n\n/gm, '')
    .trim();

const nextStep = '--- next step ---';

/** Waits as a reader does, by reading: verdicts are in the log a quarter second after they are given, or later. */
const untilLogged = `until curl -s -b cookies.txt "http://127.0.0.1:4000/api/v1/apps/$APP_ID/logs" | grep -q HWID_MISMATCH
do sleep 0.1
done
`;

test('the commands of the README, then of docs/integrating.md and docs/events.md, run as they stand in one terminal, answer what the pages show', async () => {
  const readme = testedSteps('README.md');
  const integrating = testedSteps('docs/integrating.md');
  const events = testedSteps('docs/events.md');
  expect([readme.length, integrating.length, events.length]).toEqual([5, 4, 2]);
  const steps = [...readme, ...integrating, ...events];
  const service = await startServiceProcess({ DATA_DIR: 'memory:' });
  // Packages come from here and not from the network.
  const registry = await startLocalRegistry();
  // Below the repository, so that npm finds its scripts, with dist where the reader's folder has it.
  const folder = mkdtempSync(join(root, 'dist/readme-'));
  symlinkSync(join(root, 'dist'), join(folder, 'dist'));
  const script = steps
    .map(({ command }) => (command.includes('node photo-lab/program.mjs') ? command + untilLogged : command))
    .join(`printf '%s\\n' '${nextStep}'\n`)
    .replaceAll('http://127.0.0.1:4000', service.url)
    // What is watched has happened before. A busy machine takes longer to tell it, and there is no more to tell.
    .replaceAll('--max-time 5', '--max-time 15');
  try {
    const env = { ...process.env, ...registry.env, XDG_STATE_HOME: join(folder, 'state') };
    const options = { cwd: folder, env };
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], options);
    expect(stdout.split(nextStep).map(normalize)).toEqual(steps.map(({ output }) => normalize(output ?? '')));
  } finally {
    rmSync(folder, { recursive: true });
    await registry.close();
    await service.stop();
  }
}, 300_000);
