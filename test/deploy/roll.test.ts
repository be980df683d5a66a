/** @module-tag slow */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { createManagementClient, FollowSecurityLogDocument } from '../../src/management/index.ts';
import { apiKeyAnswer, expectSuccess } from '../api/support.ts';
import { startOwnProxy } from '../setup/own-proxy.ts';
import { root } from '../setup/process.ts';
import { hasHaproxy, hasNginx } from '../setup/proxy-programs.ts';
import {
  canRunInstances,
  instanceNames,
  startThreeInstances,
  type ThreeInstances,
} from '../setup/three-instances.ts';
import { createWorld, type World } from '../setup/world.ts';
import { startMixedLoad } from './mixed-load.ts';

const perSecond = 100;
const beforeEveryId = '00000000-0000-7000-8000-000000000000';

/** Two commands for the script: they stop and start `$INSTANCE`. */
async function startRemoteControl(instances: ThreeInstances) {
  const name = z.enum(instanceNames);
  const server = createServer((request, response) => {
    const [, verb, instance] = (request.url ?? '').split('/');
    const which = name.parse(instance);
    (verb === 'stop' ? instances.stop(which) : instances.start(which)).then(
      () => response.end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = z.object({ port: z.number() }).parse(server.address());
  const command = (verb: string) =>
    `curl -sS --fail-with-body -X POST http://127.0.0.1:${port}/${verb}/$INSTANCE`;
  return { stop: command('stop'), start: command('start') };
}

/** Follows the security log as an integrator does, and returns what it has received. */
async function startFollowing(url: string, apiKey: string, applicationId: string) {
  const received: string[] = [];
  const reconnects = { count: 0 };
  const gone = new AbortController();
  onTestFinished(() => gone.abort());
  const client = createManagementClient({ baseUrl: url, apiKey });
  const entries = await client.follow(
    FollowSecurityLogDocument,
    { applicationId, after: beforeEveryId },
    { signal: gone.signal, onReconnect: () => (reconnects.count += 1) },
  );
  const following = (async () => {
    for await (const entry of entries) received.push(entry.id);
  })();
  following.catch(() => undefined);
  return { received, reconnects };
}

async function listLog(world: World, applicationId: string): Promise<string[]> {
  const page = z.object({ logs: z.array(z.object({ id: z.string() })), nextCursor: z.string().nullable() });
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await world.client.get(`/api/v1/apps/${applicationId}/logs?limit=200${cursor}`);
    const { logs, nextCursor } = page.parse(body);
    ids.push(...logs.map(({ id }) => id));
    if (nextCursor === null) return ids;
    cursor = `&cursor=${nextCursor}`;
  }
}

async function roll(words: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [join(root, 'deploy/roll.mjs'), ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const [code] = await once(child, 'close');
  return `${code}\n${output}`;
}

const kinds = (
  [
    ['HAProxy', hasHaproxy],
    ['nginx', hasNginx],
  ] as const
).flatMap(([kind, isInstalled]) => (isInstalled ? [kind] : []));

describe.skipIf(!canRunInstances).each(kinds)('a roll of three instances behind %s', (kind) => {
  test('fails no request, keeps sessions, and streams every entry once', async () => {
    const instances = await startThreeInstances();
    onTestFinished(() => instances.remove());
    const proxy = await startOwnProxy(kind, { instances: instances.ports });
    onTestFinished(() => proxy.remove());
    const control = await startRemoteControl(instances);
    const world = await createWorld({ baseUrl: proxy.url });
    const application = await world.createApplication();
    const licenseKeys = (await application.mint({ amount: 50 })).map(({ licenseKey }) => licenseKey);
    const created = await world.client.post('/api/v1/account/api-keys', { name: 'streams' });
    const { apiKey } = expectSuccess(created, 201, apiKeyAnswer).key;
    const streams = [
      await startFollowing(proxy.url, apiKey, application.id),
      await startFollowing(proxy.url, apiKey, application.id),
    ];

    const script = [
      '--stop',
      control.stop,
      '--start',
      control.start,
      ...(kind === 'HAProxy' ? ['--haproxy', proxy.adminCommand] : []),
      ...instanceNames.map((name) => `${name}=${instances.url(name)}`),
    ];
    const rollUnderLoad = async () => {
      const load = await startMixedLoad({ url: proxy.url, world, application, licenseKeys }, perSecond);
      const startedAt = performance.now();
      await sleep(3_000);
      const said = await roll(script);
      await sleep(3_000);
      const seconds = (performance.now() - startedAt) / 1000;
      const report = await load.stop();
      const total = Object.values(report.answered).reduce((sum, count) => sum + count, 0);
      const { answered, failures, slowestMilliseconds, longestStallMilliseconds } = report;
      process.stdout.write(
        `${kind}: in ${seconds.toFixed(1)} s, ${total} requests answered (${(total / seconds).toFixed(0)} a second), ` +
          `${failures.length} failed, the slowest in ${slowestMilliseconds.toFixed(0)} ms, ` +
          `longest stall ${longestStallMilliseconds.toFixed(0)} ms; ${JSON.stringify(answered)}\n`,
      );
      // What the proxy and the instances say about it: starts, stops, and requests that failed.
      if (failures.length > 0) {
        const told = instances
          .output()
          .split('\n')
          .filter((line) => /"status":50\d|Listening|Redis|"level":[45]0/.test(line));
        process.stdout.write(
          `${[proxy.output(), ...failures.slice(0, 20), ...told.slice(-200)].join('\n')}\n`,
        );
      }
      return { ...report, said, total };
    };
    let rolled = await rollUnderLoad();
    // A machine too busy to run a process for half a second also lets Redis answer too late, which is UNAVAILABLE.
    for (
      let turn = 0;
      turn < 2 && rolled.failures.length > 0 && rolled.longestStallMilliseconds > 500;
      turn += 1
    )
      rolled = await rollUnderLoad();
    const { said, failures, minted, answered, total } = rolled;
    expect(said).toBe('0\na is replaced.\nb is replaced.\nc is replaced.\n');
    expect(failures.slice(0, 10)).toEqual([]);
    expect(total).toBeGreaterThan(500);
    expect(new Set(minted).size).toBe(answered['REST mint']);

    await vi.waitFor(
      async () => {
        const listed = (await listLog(world, application.id)).sort();
        for (const { received } of streams) expect(received.toSorted()).toEqual(listed);
      },
      { timeout: 60_000, interval: 1_000 },
    );
    // The roll has ended each stream at least once.
    for (const { reconnects } of streams) expect(reconnects.count).toBeGreaterThan(0);
  }, 600_000);
});
