import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { createServerDatabase, serverUrl } from '../setup/database.ts';
import { type ServiceProcess, startServiceProcess } from '../setup/process.ts';
import { startRelay } from '../setup/relay.ts';

/** /health/ready of the built service while it loses its servers or stops. */

const part = z.strictObject({ ready: z.boolean(), detail: z.string() });
const report = z.strictObject({
  ready: z.boolean(),
  parts: z.strictObject({ service: part, database: part, redis: part.optional() }),
});

const redisUrl = process.env.TEST_REDIS_URL;
const patient = { timeout: 30_000, interval: 50 };

async function start(env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const service = await startServiceProcess(env);
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  return service;
}

async function ready(service: ServiceProcess) {
  const response = await fetch(`${service.url}/health/ready`, { signal: AbortSignal.timeout(10_000) });
  const body: unknown = await response.json();
  return { status: response.status, ...report.parse(body), text: JSON.stringify(body) };
}

test('with the embedded database the service is ready, and /health is unchanged', async () => {
  const service = await start({ DATA_DIR: 'memory:' });
  expect(await ready(service)).toMatchObject({ status: 200, ready: true });
  expect(await (await fetch(`${service.url}/health`)).json()).toEqual({ ok: true, service: 'latchkey' });
}, 90_000);

describe.skipIf(serverUrl === null)('on a PostgreSQL server', { tags: 'slow' }, () => {
  test('that hangs or closes, reports it without naming the server, and recovers', async () => {
    const { url, drop } = await createServerDatabase();
    onTestFinished(drop);
    const relay = await startRelay(url);
    onTestFinished(() => relay.close());
    const service = await start({
      DATABASE_URL: relay.url,
      SERVICE_SECRET: randomBytes(32).toString('base64'),
    });
    expect(await ready(service)).toMatchObject({ status: 200 });
    for (const lose of [relay.pause, relay.cut]) {
      lose();
      const away = await vi.waitFor(async () => {
        const answer = await ready(service);
        expect(answer).toMatchObject({ status: 503, ready: false, parts: { database: { ready: false } } });
        return answer;
      }, patient);
      expect(away.parts.service.ready).toBe(true);
      expect(away.parts.database.detail).toContain('Licenses that are cached are still validated');
      expect(away.text).not.toMatch(/127\.0\.0\.1|postgres|latchkey_test|ECONN/);
      expect((await fetch(`${service.url}/health`)).status).toBe(200);
      relay.restore();
      await vi.waitFor(async () => expect(await ready(service)).toMatchObject({ status: 200 }), patient);
    }
  }, 120_000);
});

describe.skipIf(redisUrl === undefined)('with Redis', () => {
  test('that closes, reports it, and recovers', async () => {
    const relay = await startRelay(redisUrl ?? '');
    onTestFinished(() => relay.close());
    const service = await start({ DATA_DIR: 'memory:', REDIS_URL: relay.url });
    expect(await ready(service)).toMatchObject({ status: 200, parts: { redis: { ready: true } } });
    relay.cut();
    await vi.waitFor(
      async () =>
        expect(await ready(service)).toMatchObject({ status: 503, parts: { redis: { ready: false } } }),
      patient,
    );
    relay.restore();
    await vi.waitFor(async () => expect(await ready(service)).toMatchObject({ status: 200 }), patient);
  }, 120_000);
});

test('the service is not ready while it stops, on connections that are still open', async () => {
  const service = await start({ DATA_DIR: 'memory:', SHUTDOWN_SECONDS: '60' });
  const { hostname, port } = new URL(service.url);
  // An incomplete request delays the shutdown.
  const stranger = connect(Number(port), hostname);
  stranger.on('error', () => {});
  onTestFinished(() => void stranger.destroy());
  await once(stranger, 'connect');
  stranger.write('POST /api/v1/session/init HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n{"a');
  // A second connection, accepted before, asks during the shutdown.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const ask = async () => {
    const sent = request(`${service.url}/health/ready`, { agent }).end();
    const [response] = await once(sent, 'response');
    return { status: response.statusCode, body: report.parse(JSON.parse(await text(response))) };
  };
  expect((await ask()).status).toBe(200);
  const waiting = connect(Number(port), hostname);
  waiting.on('error', () => {});
  onTestFinished(() => void waiting.destroy());
  await once(waiting, 'connect');
  waiting.write('GET /health/ready HTTP/1.1\r\nHost: a\r\n');
  await (await fetch(`${service.url}/health`)).text();
  process.kill(service.pid, 'SIGTERM');
  await vi.waitFor(() => expect(service.output()).toContain('Stopping'), { timeout: 20_000, interval: 5 });
  waiting.write('\r\n');
  const answer = await text(waiting);
  expect(answer).toMatch(/^HTTP\/1\.1 503 /);
  expect(answer).toContain('The service is stopping');
}, 90_000);
