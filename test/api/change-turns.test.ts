import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createGraphqlWorld } from '../graphql/support.ts';
import { serverUrl } from '../setup/database.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';

const onServer = serverUrl !== null && process.env.TEST_DATABASE_KIND === 'server';

/** Changes that wait for a row, for example behind a large deletion, each hold a connection. */
describe.runIf(onServer)('waiting changes of one account', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  /** Locks an application's row during the work. */
  async function whileLocked<Result>(applicationId: string, work: () => Promise<Result>): Promise<Result> {
    const client = await server.deps.services.database.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT 1 FROM applications WHERE id = $1 FOR UPDATE', [applicationId]);
      return await work();
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  }

  test('leave connections for reads and changes of others', async () => {
    const many = await createWorld(server);
    const other = await createWorld(server);
    const [blocked, own] = [await many.createApplication(), await other.createApplication()];
    let answered = 0;
    const waiting = await whileLocked(blocked.id, async () => {
      const asked = Array.from({ length: 30 }, async () => {
        await many.client.patch(`/api/v1/apps/${blocked.id}/settings`, { version: '2' });
        answered += 1;
      });
      await vi.waitFor(() => expect(server.deps.services.changeTurns.developers).toBe(1), {
        timeout: 30_000,
      });
      const changed = await other.client.patch(`/api/v1/apps/${own.id}/settings`, { version: '2' });
      const read = await other.client.get('/api/v1/auth/me');
      expect([changed.status, read.status, answered]).toEqual([200, 200, 0]);
      return asked;
    });
    await Promise.all(waiting);
    expect(server.deps.services.changeTurns.developers).toBe(0);
  });

  test('are not executed after their client has disconnected', async () => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const { id } = await createApplication();
    const made = await graphql.api.post('/api/v1/account/api-keys', { name: 'ci' });
    const { apiKey } = z.object({ key: z.object({ apiKey: z.string() }) }).parse(made.body).key;
    const change = (index: number) =>
      `m${index}: updateApplicationSettings(input: { id: "${id}", version: "v${index}" }) { application { id } }`;
    const query = `mutation { ${Array.from({ length: 40 }, (_, index) => change(index)).join(' ')} }`;
    await whileLocked(id, async () => {
      const client = new AbortController();
      const answer = fetch(`${server.baseUrl}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
        body: JSON.stringify({ query }),
        signal: client.signal,
      });
      await vi.waitFor(() => expect(server.deps.services.changeTurns.developers).toBe(1), {
        timeout: 30_000,
      });
      client.abort();
      await answer.catch(() => undefined);
    });
    await vi.waitFor(() => expect(server.deps.services.changeTurns.developers).toBe(0), { timeout: 30_000 });
    const application = await graphql.api.get(`/api/v1/apps/${id}`);
    const { version } = z
      .object({ application: z.object({ version: z.string() }) })
      .parse(application.body).application;
    // The change that had begun may be done; those behind it are not.
    expect(['1.0.0', 'v0']).toContain(version);
  });
});
