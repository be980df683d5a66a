/** @module-tag slow */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventSource } from 'eventsource';
import { createClient } from 'graphql-sse';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createManagementClient, FollowSecurityLogDocument } from '../../src/management/index.ts';
import { apiKeyAnswer, expectSuccess } from '../api/support.ts';
import { type ServiceProcess, startServiceProcess } from '../setup/process.ts';
import { createWorld } from '../setup/world.ts';

/** Standard stream clients with default settings, while the service is restarted. */

const patient = { timeout: 120_000, interval: 100 };

async function startOnDisk() {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-streams-'));
  let service: ServiceProcess = await startServiceProcess({ DATA_DIR: directory });
  onTestFinished(async () => {
    await service.stop('SIGKILL');
    await rm(directory, { recursive: true, force: true });
  });
  const { port } = new URL(service.url);
  return {
    url: service.url,
    restart: async () => {
      expect(await service.stop()).toBe(0);
      service = await startServiceProcess({ DATA_DIR: directory, PORT: port });
    },
  };
}

const query =
  'subscription Follow($applicationId: ID!) { securityLog(applicationId: $applicationId) { id } }';

test('they reconnect by themselves, and complete when the application is deleted', async () => {
  const service = await startOnDisk();
  const world = await createWorld({ baseUrl: service.url });
  const application = await world.createApplication();
  const created = await world.client.post('/api/v1/account/api-keys', { name: 'streams' });
  const { apiKey } = expectSuccess(created, 201, apiKeyAnswer).key;
  const headers = { Authorization: `Bearer ${apiKey}` };
  const variables = { applicationId: application.id };

  const sse = { entries: 0, ends: [] as string[] };
  const standard = createClient({ url: `${service.url}/graphql`, headers });
  onTestFinished(() => standard.dispose());
  standard.subscribe(
    { query, variables },
    {
      next: ({ errors }) => {
        if (errors === undefined) sse.entries += 1;
        else sse.ends.push('error in the stream');
      },
      error: (error) => sse.ends.push(String(error)),
      complete: () => sse.ends.push('complete'),
    },
  );

  const source = { entries: 0, completed: 0 };
  const search = new URLSearchParams({ query, variables: JSON.stringify(variables) });
  const events = new EventSource(`${service.url}/graphql?${search}`, {
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...headers } }),
  });
  onTestFinished(() => events.close());
  events.addEventListener('next', () => {
    source.entries += 1;
  });
  events.addEventListener('complete', () => {
    source.completed += 1;
  });

  const followed: string[] = [];
  const client = createManagementClient({ baseUrl: service.url, apiKey });
  const start = await client.follow(FollowSecurityLogDocument, {
    ...variables,
    after: '00000000-0000-7000-8000-000000000000',
  });
  const following = (async () => {
    for await (const entry of start) followed.push(entry.id);
  })().then(
    () => 'ended',
    (error: { code?: string }) => error.code,
  );

  const change = () => application.settings({ hwidLockEnabled: true });
  const allHave = async (least: number) => {
    const before = { sse: sse.entries, source: source.entries };
    await vi.waitFor(async () => {
      await change();
      expect(sse.entries - before.sse).toBeGreaterThanOrEqual(least);
      expect(source.entries - before.source).toBeGreaterThanOrEqual(least);
    }, patient);
  };
  await allHave(2);
  await service.restart();
  await allHave(2);
  expect(sse.ends).toEqual([]);
  expect(source.completed).toBe(0);

  // The management client resumes after its last entry, so it receives every entry once and in order.
  const listed: string[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await world.client.get(`/api/v1/apps/${application.id}/logs?limit=200${cursor}`);
    const page = body as { logs: { id: string }[]; nextCursor: string | null };
    listed.push(...page.logs.map(({ id }) => id));
    if (page.nextCursor === null) break;
    cursor = `&cursor=${page.nextCursor}`;
  }
  await vi.waitFor(() => expect(followed).toEqual(listed.toReversed()), patient);

  await world.client.delete(`/api/v1/apps/${application.id}`);
  await vi.waitFor(() => expect(sse.ends).toEqual(['error in the stream', 'complete']), patient);
  await vi.waitFor(() => expect(source.completed).toBeGreaterThanOrEqual(1), patient);
  expect(await following).toBe('APP_NOT_FOUND');
}, 300_000);
