/** @module-tag slow */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createServerDatabase, serverUrl } from '../setup/database.ts';
import { root, startServiceProcess } from '../setup/process.ts';
import { testedSteps } from './pages.ts';

const page = 'docs/operating.md';
let folder: string;

beforeAll(async () => {
  // Below the repository, so that npx finds the command line.
  folder = mkdtempSync(join(root, 'dist/operating-'));
  const service = await startServiceProcess({ DATA_DIR: join(folder, 'data') });
  const registered = await fetch(`${service.url}/api/v1/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.com', password: 'correct horse battery', name: 'Ada' }),
  });
  expect(registered.status).toBe(201);
  expect(await service.stop()).toBe(0);
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true }));

/** Runs commands in one terminal, which has none of the service's variables. */
async function runAsOperator(commands: readonly string[]): Promise<void> {
  const { PATH, HOME } = process.env;
  await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands.join('')], {
    cwd: folder,
    env: { PATH, HOME },
  });
}

test('the commands of docs/operating.md, run as they stand on a stopped embedded service, succeed', async () => {
  const steps = testedSteps(page);
  expect(steps.length).toBe(4);
  await runAsOperator(steps.map(({ command }) => command));
  expect(existsSync(join(folder, 'data/service-secret.previous'))).toBe(true);
  expect(existsSync(join(folder, 'restored'))).toBe(true);
}, 300_000);

test.skipIf(serverUrl === null)(
  'its move from the embedded database to a PostgreSQL server succeeds',
  async () => {
    const steps = testedSteps(page, 'tested with a PostgreSQL server');
    expect(steps.length).toBe(1);
    const { url, drop } = await createServerDatabase();
    try {
      await runAsOperator(
        steps.map(({ command }) => command.replace('postgresql://latchkey@127.0.0.1/latchkey', url)),
      );
    } finally {
      await drop();
    }
  },
  300_000,
);
