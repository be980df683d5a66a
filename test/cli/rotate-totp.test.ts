import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ApiClient } from '../setup/api-client.ts';
import { knownTotpCode, seedTotp } from '../setup/second-factor.ts';
import { startTestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';
import { runCommand } from './run-command.ts';

test('TOTP goes on after the master secret was rotated and the previous one was forgotten', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-rotate-totp-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const env = { DATA_DIR: directory };
  const before = await startTestServer({ database: 'memory', env });
  const world = await createWorld(before);
  await seedTotp(before, world.developer.id);
  await before.close();

  expect(await runCommand(['rotate-secret'], env)).toMatchObject({ code: 0 });
  expect(await runCommand(['rotate-secret', '--forget-previous'], env)).toMatchObject({ code: 0 });

  const after = await startTestServer({ database: 'memory', env });
  onTestFinished(() => after.close());
  const logIn = (more: object) =>
    new ApiClient(after.baseUrl).post('/api/v1/auth/login', { ...world.login, ...more });
  expect((await logIn({})).body).toMatchObject({ code: 'TOTP_REQUIRED' });
  expect((await logIn({ totpCode: knownTotpCode() })).status).toBe(200);
}, 120_000);
