/** @module-tag slow */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiAnswer, ApiClient, randomIp } from '../setup/api-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { createWorld, type World } from '../setup/world.ts';
import { expectSuccess, forEachOf, noLimits, userAnswer } from './support.ts';

// The embedded database has one connection, which hides every race. vitest.config.ts reports these tests as skipped.
describe.skipIf(process.env.TEST_DATABASE_KIND !== 'server')('concurrently, on a PostgreSQL server', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ env: noLimits });
  });
  afterAll(() => server.close());

  const rounds = 3;
  /** As many as there are database connections: requests that wait too long for one get UNAVAILABLE. */
  const atOnce = 8;
  const runAll = async (steps: readonly (() => Promise<ApiAnswer>)[]): Promise<ApiAnswer[]> => {
    const answers: ApiAnswer[] = [];
    await forEachOf(steps, atOnce, async (step) => void answers.push(await step()));
    return answers;
  };
  /** The same with a deletion in between, which must succeed. */
  const runAround = (steps: readonly (() => Promise<ApiAnswer>)[], remove: () => Promise<ApiAnswer>) => {
    const removeOnce = async () => {
      const answer = await remove();
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      return answer;
    };
    const half = steps.length / 2;
    return runAll([...steps.slice(0, half), removeOnce, ...steps.slice(half)]);
  };
  const statuses = (answers: readonly ApiAnswer[]) => {
    const counts: Record<string, number> = {};
    for (const { status, body } of answers) {
      const code = (body as { code?: string }).code ?? '';
      const key = `${status} ${code}`.trim();
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  };
  const deadlocks = async () => {
    const [row] = await sql<{ deadlocks: number }>(
      server,
      'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
    );
    return row?.deadlocks;
  };
  /** No response is a 5xx, and no unexpected error was logged. */
  const expectNoFailure = (answers: readonly ApiAnswer[]) => {
    expect(statuses(answers.filter(({ status }) => status >= 500))).toEqual({});
    expect(server.logLines.filter((line) => /request failed unexpectedly|deadlock/.test(line))).toEqual([]);
  };

  /** An application with users, each with a license bound to a device. */
  async function createFullAccount(world: World) {
    const application = await world.createApplication();
    const licenses = await application.mint({ amount: 6, durationSeconds: 3_600 });
    const session = await openSession(server, application);
    const userIds = await Promise.all(
      licenses.slice(0, 3).map(async ({ licenseKey }, index) => {
        const body = { username: `user${index}`, password: 'a user password', licenseKey };
        const answer = await world.client.post(`/api/v1/apps/${application.id}/users`, body);
        return expectSuccess(answer, 201, userAnswer).user.id;
      }),
    );
    for (const { licenseKey } of licenses) await session.ask(validatePath, { licenseKey, hwid: 'device' });
    return { application, licenses, session, userIds };
  }

  /** Every kind of change to the same few rows, in different orders. */
  function everyChange(
    world: World,
    { application, licenses, userIds, session }: Awaited<ReturnType<typeof createFullAccount>>,
  ) {
    const { client } = world;
    const app = `/api/v1/apps/${application.id}`;
    const validate = (licenseKey: string) =>
      session.client.post(validatePath, session.seal(session.inner({ licenseKey, hwid: 'device' })));
    const steps = licenses.flatMap(({ id, licenseKey }, index) => [
      () => client.post(`${app}/licenses/extend`, { seconds: 60 }),
      () => client.post(`/api/v1/licenses/${id}/tier`, { subscriptionTier: index }),
      () => client.post(`/api/v1/licenses/${id}/reset-hwid`),
      () => client.post(`/api/v1/licenses/${id}/ban`, { scope: 'hwid_and_ip', ip: '203.0.113.1' }),
      () => validate(licenseKey),
      () => client.post(`${app}/users/${userIds[index % 3]}/reset-hwid`),
      ...(index % 2 === 0 ? [() => client.delete(`/api/v1/licenses/${id}`)] : []),
      ...(index === 5 ? [() => client.delete(`${app}/users/${userIds[0]}`)] : []),
      () =>
        client.post(`${app}/users`, { username: `other${index}`, password: 'a user password', licenseKey }),
      () => client.patch(`${app}/settings`, { version: '1.0.0' }),
      () => client.get(`${app}/users/export`),
      () => client.get('/api/v1/account/export'),
    ]);
    return steps
      .map((step) => ({ step, order: Math.random() }))
      .sort((one, other) => one.order - other.order)
      .map(({ step }) => step);
  }

  test('changes of the same licenses wait for one another', async () => {
    for (let round = 0; round < rounds; round++) {
      const world = await createWorld(server);
      const furnished = await createFullAccount(world);
      expectNoFailure(await runAll(everyChange(world, furnished)));
    }
    expect(await deadlocks()).toBe(0);
  });

  test('a concurrent deletion of the application succeeds, and other changes succeed or are not found', async () => {
    for (let round = 0; round < rounds; round++) {
      const world = await createWorld(server);
      const furnished = await createFullAccount(world);
      const steps = everyChange(world, furnished);
      expectNoFailure(
        await runAround(steps, () => world.client.delete(`/api/v1/apps/${furnished.application.id}`)),
      );
    }
    expect(await deadlocks()).toBe(0);
  });

  test('a concurrent deletion of the account succeeds, and other changes succeed or are unauthenticated', async () => {
    for (let round = 0; round < rounds; round++) {
      const world = await createWorld(server);
      const furnished = await createFullAccount(world);
      const steps = everyChange(world, furnished);
      const { email, password } = world.developer;
      const login = () => new ApiClient(server.baseUrl).post('/api/v1/auth/login', { email, password });
      steps.splice(steps.length / 2, 0, login, login);
      expectNoFailure(
        await runAround(steps, () =>
          world.client.post('/api/v1/account/delete', { password, confirm: 'DELETE' }),
        ),
      );
      await server.deps.services.securityLog.flush();
      expect(
        await sql(server, 'SELECT 1 FROM security_log WHERE developer_id = $1', [world.developer.id]),
      ).toEqual([]);
    }
    expect(await deadlocks()).toBe(0);
  });

  test('of changes of one account each is applied, or its address is taken', async () => {
    const world = await createWorld(server);
    const { password } = world.developer;
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => {
        const client = world.client.with({ ip: randomIp() });
        if (index % 3 === 0) return client.post('/api/v1/account/mask', { mask: 'XXXXXXXXXXXX' });
        const email = `moved${index}-${world.developer.email}`;
        return client.patch('/api/v1/account/profile', { password, email, name: `Ada ${index}` });
      }),
    );
    expect(statuses(answers)).toEqual({ 200: 12 });
    expect(await deadlocks()).toBe(0);
  });

  test('of blind mints with the same keys in different orders one stores them, the others find that they exist', async () => {
    const world = await createWorld(server);
    const application = await world.createApplication();
    const keys = Array.from({ length: 400 }, (_, index) => ({
      licenseKeyHash: index.toString(16).padStart(64, '0'),
      licenseKeyPrefix: 'KEY',
      durationSeconds: 0,
    }));
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        world.client.post('/api/v1/licenses/create-blind', {
          applicationId: application.id,
          keys: index % 2 === 0 ? keys : [...keys].reverse(),
        }),
      ),
    );
    expect(statuses(answers)).toEqual({ 201: 1, '409 KEY_EXISTS': 7 });
    expect(await deadlocks()).toBe(0);
  });
});
