import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { freePort } from '../ephemeral/support.ts';
import { createServerDatabase, serverUrl } from '../setup/database.ts';
import { type ServiceProcess, startServiceProcess } from '../setup/process.ts';
import { parsePage } from '../telemetry/page.ts';

/** The shutdown timeout, and unexpected ends. */

const redisUrl = process.env.TEST_REDIS_URL;

async function start(env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const service = await startServiceProcess({ DATA_DIR: 'memory:', ...env });
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  return service;
}

/** A request that is never completed. */
async function holdRequest(service: ServiceProcess): Promise<void> {
  const { hostname, port } = new URL(service.url);
  const stranger = connect(Number(port), hostname);
  stranger.on('error', () => {});
  onTestFinished(() => void stranger.destroy());
  await once(stranger, 'connect');
  stranger.write('POST /api/v1/session/init HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n{"a');
  // This is answered after that request has been accepted and read.
  await (await fetch(`${service.url}/health`)).text();
}

/** Runs a line of JavaScript in the service when it receives SIGUSR2. */
const onSignal = (script: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2',()=>{${script}})`)}`,
});

async function stopMilliseconds(service: ServiceProcess): Promise<number> {
  const from = performance.now();
  expect(await service.stop()).toBe(0);
  return performance.now() - from;
}

test('an incomplete request delays the shutdown by at most SHUTDOWN_SECONDS', {
  tags: 'slow',
  timeout: 120_000,
}, async () => {
  const short = await start({ SHUTDOWN_SECONDS: '1' });
  await holdRequest(short);
  const long = await start({ SHUTDOWN_SECONDS: '10' });
  await holdRequest(long);
  const shortMilliseconds = await stopMilliseconds(short);
  const longMilliseconds = await stopMilliseconds(long);
  // The longer timeout gives requests five seconds, the shorter one half a second, which is exact only on an idle machine.
  expect(longMilliseconds).toBeGreaterThan(4_500);
  expect(shortMilliseconds).toBeLessThan(longMilliseconds);
});

test.skipIf(serverUrl === null || redisUrl === undefined)(
  'SHUTDOWN_SECONDS bounds the shutdown of workers too',
  { tags: 'slow', timeout: 120_000 },
  async () => {
    const { url, drop } = await createServerDatabase();
    onTestFinished(drop);
    const service = await start({
      SHUTDOWN_SECONDS: '4',
      WORKERS: '2',
      DATABASE_URL: url,
      REDIS_URL: redisUrl ?? '',
      SERVICE_SECRET: randomBytes(32).toString('base64'),
    });
    await vi.waitFor(() => expect(service.output()).toContain('Listening on'), { timeout: 60_000 });
    await holdRequest(service);
    process.kill(Number(/"worker":1,"pid":(\d+)/.exec(service.output())?.[1]), 'SIGSTOP');
    const stopped = service.stop();
    // A stuck worker is killed, and the supervisor reports an unclean end.
    expect(await stopped).toBe(1);
    expect(service.output()).toContain('killed a worker that did not end');
  },
);

const lineOf = (service: ServiceProcess, text: string) =>
  service
    .output()
    .split('\n')
    .find((line) => line.includes(text));

test('an uncaught exception is logged completely and shuts the process down gracefully with exit code 1', async () => {
  const service = await start(onSignal(`throw new Error('planted')`));
  const ended = service.stop('SIGUSR2');
  expect(await ended).toBe(1);
  const line = JSON.parse(lineOf(service, 'Uncaught exception') ?? 'null');
  expect(line).toMatchObject({ level: 60, err: { message: 'planted' } });
  expect(lineOf(service, 'Stopping: finishing open requests')).toBeDefined();
}, 90_000);

describe('an unhandled rejection', () => {
  test('is logged and counted, and the service continues', async () => {
    const metricsPort = await freePort();
    const service = await start({
      METRICS_PORT: String(metricsPort),
      ...onSignal(`Promise.reject(new Error('planted'))`),
    });
    process.kill(service.pid, 'SIGUSR2');
    await vi.waitFor(() => expect(lineOf(service, 'Unhandled rejection')).toBeDefined(), {
      timeout: 20_000,
    });
    expect(JSON.parse(lineOf(service, 'Unhandled rejection') ?? 'null')).toMatchObject({
      level: 60,
      err: { message: 'planted' },
    });
    expect((await fetch(`${service.url}/health`)).status).toBe(200);
    const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(parsePage(page).value('latchkey_unhandled_rejections_total')).toBe(1);
    expect(await service.stop()).toBe(0);
  }, 90_000);
});
