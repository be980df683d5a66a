import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ApiClient } from '../setup/api-client.ts';
import { createCallClient } from '../setup/call-client.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import { forFile, useWorld } from '../setup/use-world.ts';
import { allowLoopback, createWebhook, startReceiver } from '../setup/webhook-receiver.ts';
import { type Page, parsePage } from './page.ts';

const { server, world } = useWorld({ database: 'memory', env: allowLoopback });
const application = forFile(() => world.createApplication());

const page = async (): Promise<Page> => parsePage(await server.deps.telemetry.page());

/** The increase of a line during some work. It is polled, because a request is counted when its connection is released. */
async function rise(
  name: string,
  labels: Readonly<Record<string, string>>,
  act: () => Promise<unknown>,
): Promise<{ toBe(expected: number): Promise<void> }> {
  const before = (await page()).value(name, labels);
  await act();
  return {
    toBe: (expected) =>
      vi.waitFor(async () => expect((await page()).value(name, labels) - before).toBe(expected), {
        timeout: 10_000,
      }),
  };
}

test('every family has a type, a help text, and a name in base units', async () => {
  const text = await server.deps.telemetry.page();
  const { types, samples } = parsePage(text);
  const own = [...types].filter(([name]) => name.startsWith('latchkey_'));
  expect(own.length).toBeGreaterThan(15);
  for (const [name, type] of types) expect(name.endsWith('_total'), name).toBe(type === 'counter');
  for (const [name] of own) {
    expect(text).toContain(`# HELP ${name} `);
    expect(name).not.toMatch(/milliseconds|_ms\b|kilobytes/);
  }
  for (const name of [
    'process_cpu_seconds_total',
    'nodejs_eventloop_lag_p99_seconds',
    'nodejs_heap_size_used_bytes',
  ])
    expect(
      [...samples.keys()].some((key) => key.startsWith(`${name} `)),
      name,
    ).toBe(true);
});

test('REST requests are counted by route pattern and timed', async () => {
  const rest = { transport: 'rest', method: 'GET', route: '/api/v1/apps/:id/users' };
  const get = () => world.client.get(`/api/v1/apps/${application.id}/users`);
  await (
    await rise('latchkey_requests_total', { ...rest, status: '2xx' }, async () => {
      for (let count = 0; count < 3; count += 1) expect((await get()).status).toBe(200);
    })
  ).toBe(3);
  await (await rise('latchkey_request_duration_seconds_count', rest, get)).toBe(1);
  await (await rise('latchkey_request_duration_seconds_bucket', { ...rest, le: '+Inf' }, get)).toBe(1);
  const known = await page();
  const below = [...known.samples].filter(
    ([key]) => key.startsWith('latchkey_request_duration_seconds_bucket ') && key.includes(rest.route),
  );
  const counts = below.map(([, count]) => count);
  expect(counts).toEqual(counts.toSorted((one, other) => one - other));
});

test('GraphQL requests and results of sealed requests are counted', async () => {
  const graphql = { transport: 'graphql', method: 'POST', route: '/graphql', status: '2xx' };
  await (
    await rise('latchkey_requests_total', graphql, () =>
      world.client.post('/graphql', { query: '{ me { id } }' }),
    )
  ).toBe(1);
  const { licenseKey } = await application.mintOne();
  let session: SealedSession | undefined;
  await (
    await rise('latchkey_verdicts_total', { verb: 'session_init', code: 'OK' }, async () => {
      session = await openSession(server, application);
    })
  ).toBe(1);
  const ask = (key: string) => session?.ask(validatePath, { licenseKey: key });
  await (
    await rise('latchkey_verdicts_total', { verb: 'validate', code: 'OK' }, () =>
      Promise.all([ask(licenseKey), ask(licenseKey), ask('another')]),
    )
  ).toBe(2);
  await (
    await rise('latchkey_verdicts_total', { verb: 'validate', code: 'LICENSE_NOT_FOUND' }, async () =>
      ask('another'),
    )
  ).toBe(1);
  const sealed = { transport: 'sealed', method: 'POST', route: validatePath, status: '2xx' };
  await (await rise('latchkey_requests_total', sealed, async () => ask(licenseKey))).toBe(1);
  await (
    await rise('latchkey_cache_requests_total', { cache: 'license', result: 'hit' }, async () =>
      ask(licenseKey),
    )
  ).toBe(1);
  await server.deps.services.securityLog.flush();
  await (await rise('latchkey_security_log_written_total', {}, async () => ask(licenseKey))).toBe(1);
});

test('calls of version 2 are counted, and the age of the newest key is told', async () => {
  const client = createCallClient(server, application);
  const ask = () => client.ask('validate', { licenseKey: 'another' });
  await (await rise('latchkey_call_answers_total', { code: 'LICENSE_NOT_FOUND' }, ask)).toBe(1);
  await (await rise('latchkey_verdicts_total', { verb: 'validate', code: 'LICENSE_NOT_FOUND' }, ask)).toBe(1);
  await (
    await rise('latchkey_protocol_refusals_total', { code: 'KEY_UNKNOWN' }, () =>
      client.post(new Uint8Array(311)),
    )
  ).toBe(1);
  const sealed = { transport: 'sealed', method: 'POST', route: '/api/v2/call', status: '2xx' };
  await (await rise('latchkey_requests_total', sealed, ask)).toBe(1);
  const { samples } = await page();
  const [age] = [...samples].filter(([key]) => key.startsWith('latchkey_service_key_age_seconds'));
  expect(age?.[1]).toBeGreaterThanOrEqual(0);
  expect(age?.[1]).toBeLessThan(3_600);
});

test('replays, rate limits and failed statements are counted', async () => {
  const session = await openSession(server, application);
  const sealed = session.seal(session.inner({ licenseKey: 'any' }));
  await (
    await rise('latchkey_protocol_refusals_total', { code: 'REPLAY' }, async () => {
      for (const status of [200, 400])
        expect((await session.client.post(validatePath, sealed)).status).toBe(status);
    })
  ).toBe(1);
  const visitor = new ApiClient(server.baseUrl);
  await (
    await rise('latchkey_rate_limited_total', { limit: 'auth' }, async () => {
      for (let count = 0; count < 22; count += 1) await visitor.post('/api/v1/auth/login', {});
    })
  ).toBe(2);
  await (
    await rise('latchkey_rate_limited_total', { limit: 'auth' }, () =>
      visitor.post('/graphql', {
        query:
          'mutation { login(input: { email: "a@example.com", password: "12345678" }) { developer { id } } }',
      }),
    )
  ).toBe(1);
  const { pool } = server.deps.services.database;
  await (
    await rise('latchkey_database_errors_total', { class: 'syntax_or_access' }, async () => {
      await expect(pool.query('SELECT nothing_of_this_name')).rejects.toThrow();
    })
  ).toBe(1);
});

test('attempts to send to webhooks are counted by outcome', async () => {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const { id } = await createWebhook(world.client, { url: receiver.url('/'), types: ['license.banned'] });
  const send = () => world.client.post(`/api/v1/webhooks/${id}/test`);
  await (await rise('latchkey_webhook_attempts_total', { outcome: 'success' }, send)).toBe(1);
  receiver.respond('/', 500);
  await (await rise('latchkey_webhook_attempts_total', { outcome: 'failure' }, send)).toBe(1);
  receiver.respond('/', 410);
  const disabled = await rise('latchkey_webhook_attempts_total', { outcome: 'failure' }, send);
  await disabled.toBe(1);
});

test('text from clients adds no line to the page', async () => {
  const send = async (index: number) => {
    const client = new ApiClient(server.baseUrl, {
      headers: { 'User-Agent': `agent-${index}`, 'X-Request-Id': `request-${index}` },
    });
    await client.get(`/made/up/${index}`);
    await client.get(`/api/v1/made-up-${index}`);
    await client.get(`/api/v1/apps/made-up-${index}/users`);
    await client.get(`/graphql/made-up-${index}`);
    await client.get(`/docs/made-up-${index}`);
    await client.post(`/api/v1/licenses/validate/made-up-${index}`, {});
    await client.post('/api/v1/licenses/validate', { sessionId: `made-up-${index}` });
    await client.post('/graphql', { query: `query MadeUp${index} { __typename }` });
    await client.send(index % 2 === 0 ? 'PURGE' : 'REPORT', `/made-up-${index}`);
  };
  await send(0);
  await send(1);
  const lines = async () => [...(await page()).samples.keys()].filter((key) => key.startsWith('latchkey_'));
  const inFlight = async () =>
    vi.waitFor(async () => expect((await page()).value('latchkey_requests_in_flight')).toBe(0), {
      timeout: 30_000,
    });
  await inFlight();
  const before = await lines();
  for (let index = 2; index < 30; index += 1) await send(index);
  await inFlight();
  const after = await lines();
  expect(after).toEqual(before);
  expect(after.join('\n')).not.toMatch(/made|agent|PURGE|REPORT/i);
  expect(
    (await page()).value('latchkey_requests_total', {
      transport: 'rest',
      method: 'other',
      route: 'unmatched',
      status: '4xx',
    }),
  ).toBeGreaterThan(1);
});

test('a client that disconnects before its response is counted as aborted', async () => {
  const labels = { transport: 'rest', method: 'POST', route: '/api/v1/auth/login', status: 'aborted' };
  const agent = new Agent();
  onTestFinished(() => agent.destroy());
  await (
    await rise('latchkey_requests_total', labels, async () => {
      const sent = request(`${server.baseUrl}/api/v1/auth/login`, {
        agent,
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Content-Length': '1000' },
      });
      sent.on('error', () => {});
      sent.write('{"email":');
      await once(sent, 'socket');
      await vi.waitFor(async () => expect((await page()).value('latchkey_requests_in_flight')).toBe(1), {
        timeout: 30_000,
      });
      sent.destroy();
    })
  ).toBe(1);
});
