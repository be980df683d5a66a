import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ApiClient, cookieOf } from '../setup/api-client.ts';
import { startTestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { allowLoopback, createWebhook, startReceiver, verify } from '../setup/webhook-receiver.ts';
import { createWorld } from '../setup/world.ts';
import { runCommand } from './run-command.ts';

test('webhooks keep their signing secrets after the master secret was rotated and the previous one was forgotten', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-rotate-webhooks-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const env = { DATA_DIR: directory };
  const before = await startTestServer({ database: 'memory', env: { ...env, ...allowLoopback } });
  const world = await createWorld(before);
  const { id, secret } = await createWebhook(world.client, {
    url: receiver.url('/'),
    types: ['license.created'],
  });
  await before.close();

  expect(await runCommand(['rotate-secret'], env)).toMatchObject({ code: 0 });
  expect(await runCommand(['rotate-secret', '--forget-previous'], env)).toMatchObject({ code: 0 });
  expect(await runCommand(['doctor'], env)).toMatchObject({ code: 0 });

  const after = await startTestServer({ database: 'memory', env: { ...env, ...allowLoopback } });
  onTestFinished(() => after.close());
  const login = await new ApiClient(after.baseUrl).post('/api/v1/auth/login', world.login);
  const client = new ApiClient(after.baseUrl, { cookie: cookieOf(login) ?? '' });
  expect((await client.post(`/api/v1/webhooks/${id}/test`)).status).toBe(200);
  const [received] = receiver.received;
  if (received === undefined) throw new Error('nothing was received');
  expect(verify(secret, received).type).toBe('webhook.test');
}, 120_000);

test('doctor names webhooks whose secrets the master secret does not decrypt', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-rotate-webhooks-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const env = { DATA_DIR: directory };
  const server = await startTestServer({ database: 'memory', env });
  const { client } = await createWorld(server);
  const { id } = await createWebhook(client, { url: 'https://example.com/', types: ['license.created'] });
  await sql(server, "UPDATE webhooks SET secrets_encrypted = '\\x00'");
  await server.close();
  const run = await runCommand(['doctor'], env);
  expect(run.stdout + run.stderr).toContain(id);
  expect(run.stdout + run.stderr).toContain('rotate their secrets');
}, 120_000);
