import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { sweepDeletedOwners } from '../../src/db/deleted-owners.ts';
import { type ApiAnswer, ApiClient } from '../setup/api-client.ts';
import { sql } from '../setup/stored.ts';
import { useServer } from '../setup/use-world.ts';
import { createWorld, type SeededApplication } from '../setup/world.ts';
import { expectFailure, noLimits } from './support.ts';

const server = useServer({ env: noLimits });

const amount = 1_500;

async function countOf(table: string, where: string, values: readonly unknown[]): Promise<number> {
  const [row] = await sql<{ count: number }>(
    server,
    `SELECT count(*)::int AS count FROM ${table} WHERE ${where}`,
    values,
  );
  return row?.count ?? Number.NaN;
}
const licensesOf = ({ id }: SeededApplication) => countOf('licenses', 'application_id = $1', [id]);
const sweep = () => sweepDeletedOwners(server.deps.services.database.pool, new AbortController().signal);

/** The response to client software that uses the application: the HTTP status and the code. */
async function answerToClient({ id, version }: SeededApplication) {
  const answer = await new ApiClient(server.baseUrl).post('/api/v1/session/init', {
    appId: id,
    clientNonceB64: randomBytes(32).toString('base64'),
    clientVersion: version,
  });
  return { status: answer.status, code: codeOf(answer) };
}
const codeOf = ({ body }: ApiAnswer) => z.object({ code: z.string().optional() }).parse(body).code;
const notFound = { status: 404, code: 'APP_NOT_FOUND' };

test('a deleted large application disappears at once for everyone, and its rows soon after', async () => {
  const { client, createApplication } = await createWorld(server);
  const [application, other] = [await createApplication(), await createApplication()];
  const [kept] = await other.mint({ amount: 1 });
  await application.mint({ amount });
  expect((await answerToClient(application)).status).toBe(200);
  expect((await client.delete(`/api/v1/apps/${application.id}`)).status).toBe(200);

  expectFailure(await client.get(`/api/v1/apps/${application.id}`), 404, 'APP_NOT_FOUND');
  expectFailure(await client.get(`/api/v1/apps/${application.id}/licenses`), 404, 'APP_NOT_FOUND');
  expectFailure(
    await client.post('/api/v1/licenses/create', {
      applicationId: application.id,
      amount: 1,
      durationSeconds: 0,
    }),
    404,
    'APP_NOT_FOUND',
  );
  expect((await client.get('/api/v1/apps/')).body).toMatchObject({ applications: [{ id: other.id }] });
  const metrics = await client.get('/api/v1/metrics/overview');
  expect(metrics.body).toMatchObject({ metrics: { licenses: { total: 1 } } });
  expect(await answerToClient(application)).toEqual(notFound);

  await sweep();
  expect(await licensesOf(application)).toBe(0);
  expect(await countOf('applications', 'id = $1', [application.id])).toBe(0);
  expect(await countOf('developers', `email LIKE 'deleted:%'`, [])).toBe(0);
  expect(await countOf('licenses', 'id = $1', [kept?.id])).toBe(1);
});

test('a deleted large account disappears at once, and its address is free', async () => {
  const { client, createApplication, developer, login } = await createWorld(server);
  const application = await createApplication();
  await application.mint({ amount });
  const made = await client.post('/api/v1/account/api-keys', { name: 'ci' });
  const bearer = z.object({ key: z.object({ apiKey: z.string() }) }).parse(made.body).key.apiKey;
  const withKey = new ApiClient(server.baseUrl, { bearer });
  expect((await withKey.get('/api/v1/apps/')).status).toBe(200);
  const deleted = await client.post('/api/v1/account/delete', {
    password: login.password,
    confirm: 'DELETE',
  });
  expect(deleted.status).toBe(200);

  expectFailure(await client.get('/api/v1/apps/'), 401, 'UNAUTHENTICATED');
  expectFailure(await withKey.get('/api/v1/apps/'), 401, 'UNAUTHENTICATED');
  const visitor = new ApiClient(server.baseUrl);
  expectFailure(await visitor.post('/api/v1/auth/login', login), 401, 'INVALID_CREDENTIALS');
  // The address of its row until it is swept.
  const leftover = { ...login, email: `deleted:${developer.id}` };
  expectFailure(await visitor.post('/api/v1/auth/login', leftover), 401, 'INVALID_CREDENTIALS');
  expect(await answerToClient(application)).toEqual(notFound);
  const again = await visitor.post('/api/v1/auth/register', { ...login, name: 'Ada' });
  expect(again.status).toBe(201);

  await sweep();
  expect(await licensesOf(application)).toBe(0);
  expect(await countOf('developers', 'id = $1', [developer.id])).toBe(0);
  expect(await countOf('security_log', 'developer_id = $1', [developer.id])).toBe(0);
  expect((await visitor.post('/api/v1/auth/login', login)).status).toBe(200);
});

test.runIf(process.env.TEST_DATABASE_KIND !== 'server')(
  'others are served while the rows of a large application are deleted',
  { tags: 'slow' },
  async () => {
    const { client, createApplication } = await createWorld(server);
    const application = await createApplication();
    await application.mint({ amount: 3_000 });
    await client.delete(`/api/v1/apps/${application.id}`);
    const left = await licensesOf(application);
    expect(left).toBe(3_000);
    const swept = sweep();
    const seen: number[] = [];
    for (let count = left; count > 0; seen.push(count)) count = await licensesOf(application);
    await swept;
    // Its responses came between the slices.
    expect(new Set(seen).size).toBeGreaterThan(3);
  },
);
