import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { get } from 'node:https';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/lib/clock.ts';
import { freePort } from '../ephemeral/support.ts';
import { ApiClient } from '../setup/api-client.ts';
import { openEventStream } from '../setup/event-stream.ts';
import { type OwnProxy, startOwnProxy } from '../setup/own-proxy.ts';
import { hasHaproxy, hasNginx } from '../setup/proxy-programs.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { canRunInstances, startThreeInstances, type ThreeInstances } from '../setup/three-instances.ts';
import { createWorld } from '../setup/world.ts';

const kinds = (
  [
    ['HAProxy', hasHaproxy],
    ['nginx', hasNginx],
  ] as const
).flatMap(([kind, isInstalled]) => (isInstalled ? [kind] : []));

describe.skipIf(!canRunInstances)('three instances', () => {
  let instances: ThreeInstances;
  beforeAll(async () => {
    instances = await startThreeInstances();
  });
  afterAll(() => instances.remove());

  describe.each(kinds)('behind the shipped configuration of %s', (kind) => {
    let proxy: OwnProxy;
    beforeAll(async () => {
      proxy = await startOwnProxy(kind, { instances: instances.ports });
    });
    afterAll(() => proxy.remove());

    test('a client cannot choose its address', async () => {
      const userAgent = `chooses its address, behind ${kind}`;
      const client = new ApiClient(proxy.url, { ip: '203.0.113.7', headers: { 'User-Agent': userAgent } });
      expect((await client.get('/api/v1/auth/me')).status).toBe(401);
      await vi.waitFor(() => {
        const line =
          instances
            .output()
            .split('\n')
            .find((text) => text.includes(userAgent)) ?? '{}';
        expect(JSON.parse(line)).toMatchObject({ ip: '127.0.0.1' });
      });
    });

    test('TLS is for browsers, and stays on', async () => {
      const asked = get({
        host: '127.0.0.1',
        port: proxy.tlsPort,
        servername: 'licenses.example.com',
        headers: { Host: 'licenses.example.com' },
        path: '/health',
        ca: readFileSync(proxy.ca),
      });
      const [answer] = await once(asked, 'response');
      answer.resume();
      expect(answer.statusCode).toBe(200);
      expect(answer.headers['strict-transport-security']).toMatch(/max-age=\d+/);
    });

    test('the metrics are not among what it passes on', async () => {
      expect((await fetch(`${proxy.url}/metrics`)).status).toBe(404);
    });

    test('a session that one instance has opened is valid on the others', async () => {
      const application = await (await createWorld({ baseUrl: proxy.url })).createApplication();
      const { licenseKey } = await application.mintOne();
      const session = await openSession({ baseUrl: instances.url('a'), clock: systemClock }, application);
      for (const name of ['b', 'c', 'a'] as const) {
        const client = new ApiClient(instances.url(name));
        const envelope = session.seal(session.inner({ licenseKey }));
        expect(session.open(await client.post(validatePath, envelope)).code).toBe('OK');
      }
    });

    test('an event stream passes as it is written', async () => {
      const world = await createWorld({ baseUrl: proxy.url });
      const application = await world.createApplication();
      const stream = await openEventStream(world.client, {
        query: 'subscription ($id: ID!) { securityLog(applicationId: $id) { event } }',
        variables: { id: application.id },
      });
      await application.settings({ hwidLockEnabled: false });
      expect(await stream.take(1)).toHaveLength(1);
      // The stream was open before the entry, and still is.
      await application.settings({ hwidLockEnabled: true });
      expect(await stream.take(1)).toHaveLength(1);
      stream.close();
    });

    test('a killed instance costs no request that it was not serving', async () => {
      const application = await (await createWorld({ baseUrl: proxy.url })).createApplication();
      const { licenseKey } = await application.mintOne();
      const session = await openSession({ baseUrl: proxy.url, clock: systemClock }, application);
      const validate = async () => (await session.ask(validatePath, { licenseKey })).code;
      for (let turn = 0; turn < 6; turn += 1) expect(await validate()).toBe('OK');
      await instances.stop('b', 'SIGKILL');
      try {
        for (let turn = 0; turn < 30; turn += 1) expect(await validate()).toBe('OK');
      } finally {
        await instances.start('b');
      }
    });
  });
});

/** Servers that answer /health, and count the other requests that they have received completely. */
async function startCounters(behave: (before: number) => 'answer' | 'reset') {
  let received = 0;
  const listen = async () => {
    const counts = new WeakMap<object, number>();
    const server = createServer((asked, answer) => {
      if (asked.url === '/health') return void answer.end();
      asked.resume().once('end', () => {
        const before = counts.get(asked.socket) ?? 0;
        counts.set(asked.socket, before + 1);
        received += 1;
        if (behave(before) === 'answer') answer.end('answered');
        else asked.socket.resetAndDestroy();
      });
    });
    server.keepAliveTimeout = 75_000;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    return z.object({ port: z.number() }).parse(server.address()).port;
  };
  return {
    ports: [await listen(), await listen(), await listen()] as const,
    received: () => received,
  };
}

/** Posts over the agent's connection. Null if there is no answer. */
async function post(url: string, agent: Agent): Promise<number | null> {
  const sent = request(url, { method: 'POST', agent, headers: { 'Content-Type': 'application/json' } });
  sent.end('{"amount":1}');
  try {
    const [answer] = await once(sent, 'response');
    answer.resume();
    await once(answer, 'end');
    return answer.statusCode;
  } catch {
    return null;
  }
}

describe.each(kinds)('%s', (kind) => {
  const startProxy = async (instances: readonly [number, number, number]) => {
    const proxy = await startOwnProxy(kind, { instances });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(async () => {
      agent.destroy();
      await proxy.remove();
    });
    return { url: `${proxy.url}/api/v1/licenses/create`, agent };
  };

  test('does not send a request again that was received', async () => {
    const counters = await startCounters(() => 'reset');
    const { url, agent } = await startProxy(counters.ports);
    // Such requests take no instance out of use either: one client could do that to all others.
    for (let turn = 1; turn <= 9; turn += 1) {
      // On a connection that has served others, HAProxy closes it instead of answering 502.
      expect([502, null]).toContain(await post(url, agent));
      expect(counters.received()).toBe(turn);
    }
  });

  test('nor when it was sent on a connection that has served others', async () => {
    const counters = await startCounters((before) => (before === 0 ? 'answer' : 'reset'));
    const { url, agent } = await startProxy(counters.ports);
    let sent = 0;
    let last: number | null;
    do {
      sent += 1;
      last = await post(url, agent);
    } while (last === 200 && sent < 50);
    // A connection was used twice: no instance has seen its second request another time.
    expect(sent).toBeLessThan(50);
    expect(last === null || last === 502).toBe(true);
    expect(counters.received()).toBe(sent);
  });

  test('passes a request to another instance if two cannot be connected to', async () => {
    const counters = await startCounters(() => 'answer');
    const { url, agent } = await startProxy([await freePort(), counters.ports[0], await freePort()]);
    for (let turn = 0; turn < 6; turn += 1) expect(await post(url, agent)).toBe(200);
    expect(counters.received()).toBe(6);
  });
});
