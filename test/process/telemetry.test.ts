import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { freePort } from '../ephemeral/support.ts';
import { createServerDatabase, serverUrl } from '../setup/database.ts';
import { type ServiceProcess, startServiceProcess } from '../setup/process.ts';
import { type Page, parsePage } from '../telemetry/page.ts';

/** The metrics endpoint of the built service, alone and with workers. */

const redisUrl = process.env.TEST_REDIS_URL;
const patient = { timeout: 60_000, interval: 50 };

async function start(
  env: Readonly<Record<string, string>>,
): Promise<{ service: ServiceProcess; metrics: string }> {
  const port = await freePort();
  const service = await startServiceProcess({ METRICS_PORT: String(port), ...env });
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  return { service, metrics: `http://127.0.0.1:${port}` };
}

async function readPage(metrics: string): Promise<Page> {
  const response = await fetch(`${metrics}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  return parsePage(await response.text());
}

const health = { transport: 'health', method: 'GET', route: '/health', status: '2xx' };

test('the metrics page is the only page on its own address', async () => {
  const { service, metrics } = await start({ DATA_DIR: 'memory:' });
  const page = await readPage(metrics);
  expect(page.value('latchkey_database_up')).toBe(1);
  expect(page.value('latchkey_ready')).toBe(1);
  expect([...page.samples.keys()].some((key) => key.startsWith('latchkey_build_info '))).toBe(true);
  expect(page.types.has('latchkey_redis_up')).toBe(false);
  const head = await fetch(`${metrics}/metrics`, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  for (const [method, path] of [
    ['POST', '/metrics'],
    ['GET', '/'],
    ['GET', '/metrics/x'],
    ['GET', '/health'],
  ] as const)
    expect((await fetch(metrics + path, { method })).status, `${method} ${path}`).toBe(404);
  expect((await fetch(`${service.url}/metrics`)).status).toBe(404);
}, 90_000);

test('a metrics port that is in use fails the start with advice', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
  const { port } = z.object({ port: z.number() }).parse(taken.address());
  const said = await startServiceProcess({ DATA_DIR: 'memory:', METRICS_PORT: String(port) }).then(
    String,
    String,
  );
  expect(said).toContain('ended with 1');
  expect(said).toContain('The metrics endpoint could not start.');
  expect(said).toContain('Set METRICS_PORT and METRICS_HOST to a free address.');
}, 90_000);

describe.skipIf(serverUrl === null || redisUrl === undefined)('two workers', { tags: 'slow' }, () => {
  test('share one page, in which no counter decreases when one of them is stuck or dies', async () => {
    const { url, drop } = await createServerDatabase();
    onTestFinished(drop);
    const { service, metrics } = await start({
      WORKERS: '2',
      DATABASE_URL: url,
      REDIS_URL: redisUrl ?? '',
      SERVICE_SECRET: randomBytes(32).toString('base64'),
    });
    await vi.waitFor(
      async () => expect((await readPage(metrics)).value('latchkey_workers_answered')).toBe(2),
      patient,
    );
    const before = (await readPage(metrics)).value('latchkey_requests_total', health);
    // Each on its own connection, so that both workers get some.
    for (let count = 0; count < 10; count += 1)
      await (await fetch(`${service.url}/health`, { headers: { Connection: 'close' } })).text();
    await vi.waitFor(
      async () =>
        expect((await readPage(metrics)).value('latchkey_requests_total', health)).toBe(before + 10),
      patient,
    );
    expect((await readPage(metrics)).value('latchkey_redis_up')).toBe(1);

    const pid = Number(/"worker":1,"pid":(\d+)/.exec(service.output())?.[1]);
    process.kill(pid, 'SIGSTOP');
    const stuck = await readPage(metrics);
    expect(stuck.value('latchkey_workers_answered')).toBe(1);
    expect(stuck.value('latchkey_workers_configured')).toBe(2);
    expect(stuck.value('latchkey_requests_total', health)).toBe(before + 10);

    process.kill(pid, 'SIGKILL');
    await vi.waitFor(async () => {
      const page = await readPage(metrics);
      expect(page.value('latchkey_workers_answered')).toBe(2);
      expect(page.value('latchkey_workers_lost_total')).toBe(1);
      expect(page.value('latchkey_requests_total', health)).toBe(before + 10);
    }, patient);
  }, 180_000);
});
