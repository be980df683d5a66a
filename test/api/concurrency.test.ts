import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiAnswer, ApiClient, cookieOf, randomIp } from '../setup/api-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld, type World } from '../setup/world.ts';
import {
  applicationAnswer,
  expectFailure,
  expectSuccess,
  licensesAnswer,
  messageKeys,
  mintedAnswer,
  noLimits,
} from './support.ts';

// The embedded database has one connection, which hides every race. vitest.config.ts reports these tests as skipped.
describe.skipIf(process.env.TEST_DATABASE_KIND !== 'server')('concurrently, on a PostgreSQL server', () => {
  let server: TestServer;
  let world: World;
  beforeAll(async () => {
    server = await startTestServer({ env: noLimits });
    world = await createWorld(server);
  });
  afterAll(() => server.close());

  const prisma = () => server.deps.services.database.prisma;
  const times = <Value>(count: number, make: (index: number) => Promise<Value>) =>
    Promise.all(Array.from({ length: count }, (_, index) => make(index)));
  const statusesOf = (answers: readonly ApiAnswer[]) => {
    const counts: Record<number, number> = {};
    for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };
  const unexpected = () => server.logLines.filter((line) => line.includes('request failed unexpectedly'));

  /** Blocks the next write to a table, so that two requests meet exactly half way. */
  async function holdTable(table: 'bans' | 'licenses' | 'security_log') {
    const { database } = server.deps.config;
    if (database.kind !== 'server') throw new Error('only a server holds a table for one of many');
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query('BEGIN');
    await client.query(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
    const waiting = async () => {
      // A transaction keeps its snapshot of pg_stat_activity unless it clears it.
      await client.query('SELECT pg_stat_clear_snapshot()');
      const { rows } = await client.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows[0]?.count ?? 0;
    };
    return {
      /** Waits until this many requests wait for a lock. */
      until: async (count: number) => {
        while ((await waiting()) < count) await setTimeout(5);
      },
      release: async () => {
        await client.query('ROLLBACK');
        await client.end();
      },
    };
  }

  test('twenty registrations of one address create one account', async () => {
    const answers = await times(20, (index) =>
      new ApiClient(server.baseUrl).post('/api/v1/auth/register', {
        email: index % 2 === 0 ? 'race@example.com' : 'RACE@example.com',
        password: 'correct horse battery',
        name: `Racer ${index}`,
      }),
    );
    expect(statusesOf(answers)).toEqual({ 201: 1, 409: 19 });
    for (const answer of answers) {
      if (answer.status === 201) continue;
      expectFailure(answer, 409, 'EMAIL_TAKEN');
      expect(cookieOf(answer)).toBeUndefined();
    }
    expect(await prisma().developer.count({ where: { emailNormalized: 'race@example.com' } })).toBe(1);
  });

  test('changes of different messages are all kept, and each response has its own', async () => {
    const { id } = await world.createApplication();
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(
        messageKeys.map((key) =>
          world.client.patch(`/api/v1/apps/${id}/settings`, {
            responseMessages: { [key]: `${key} of round ${round}` },
          }),
        ),
      );
      answers.forEach((answer, index) => {
        const { application } = expectSuccess(answer, 200, applicationAnswer);
        const key = messageKeys[index] ?? 'OK';
        expect(application.responseMessages[key]).toBe(`${key} of round ${round}`);
      });
      const read = await world.client.get(`/api/v1/apps/${id}`);
      expect(expectSuccess(read, 200, applicationAnswer).application.responseMessages).toEqual(
        Object.fromEntries(messageKeys.map((key) => [key, `${key} of round ${round}`])),
      );
    }
  });

  test('changes of different settings are all kept', async () => {
    const { id } = await world.createApplication();
    const changes = [
      { version: '2' },
      { status: 'disabled' },
      { hwidLockEnabled: false },
      { requireLicenseToRegister: false },
      { registrationEnabled: false },
      { responseMessages: { OK: 'Hi' } },
    ];
    const answers = await Promise.all(
      changes.map((change) => world.client.patch(`/api/v1/apps/${id}/settings`, change)),
    );
    expect(statusesOf(answers)).toEqual({ 200: changes.length });
    const read = await world.client.get(`/api/v1/apps/${id}`);
    expect(expectSuccess(read, 200, applicationAnswer).application).toMatchObject(
      Object.assign({}, ...changes),
    );
  });

  test('of several deletions of one application one succeeds, the others are not found', async () => {
    for (let round = 0; round < 3; round++) {
      const { id } = await world.createApplication();
      const answers = await times(20, () => world.client.delete(`/api/v1/apps/${id}`));
      expect(statusesOf(answers)).toEqual({ 200: 1, 404: 19 });
      for (const answer of answers) if (answer.status === 404) expectFailure(answer, 404, 'APP_NOT_FOUND');
    }
    expect(
      await prisma().securityLogEntry.count({
        where: { developerId: world.developer.id, event: 'application_deleted' },
      }),
    ).toBe(3);
  });

  test('minting for an application that is being deleted succeeds or is not found, and leaves no rows', async () => {
    const seen: number[] = [];
    for (let round = 0; round < 4; round++) {
      const { id } = await world.createApplication();
      const mint = () =>
        world.client.post('/api/v1/licenses/create', { applicationId: id, amount: 200, durationSeconds: 0 });
      const [answers, deleted] = await Promise.all([
        times(12, mint),
        mint().then(() => world.client.delete(`/api/v1/apps/${id}`)),
      ]);
      expect(deleted.status).toBe(200);
      for (const answer of answers) {
        seen.push(answer.status);
        if (answer.status === 201) expectSuccess(answer, 201, mintedAnswer);
        else expectFailure(answer, 404, 'APP_NOT_FOUND');
      }
      expect(await prisma().license.count({ where: { applicationId: id } })).toBe(0);
      expect(await prisma().securityLogEntry.count({ where: { applicationId: id } })).toBe(0);
    }
    expect(seen).toContain(201);
    expect(unexpected()).toEqual([]);
  });

  test('a mint that its application’s deletion waits for succeeds, and its keys are deleted', async () => {
    const { id } = await world.createApplication();
    const held = await holdTable('licenses');
    let minted: Promise<ApiAnswer>;
    let deleted: Promise<ApiAnswer>;
    try {
      const body = { applicationId: id, amount: 5, durationSeconds: 0 };
      minted = world.client.post('/api/v1/licenses/create', body);
      await held.until(1);
      deleted = world.client.delete(`/api/v1/apps/${id}`);
      await held.until(2);
    } finally {
      await held.release();
    }
    const [mintAnswer, deleteAnswer] = await Promise.all([minted, deleted]);
    expectSuccess(mintAnswer, 201, mintedAnswer);
    expect(deleteAnswer.status, JSON.stringify(deleteAnswer.body)).toBe(200);
    expect(await prisma().license.count({ where: { applicationId: id } })).toBe(0);
  });

  test('every other change of an application that is being deleted succeeds or is not found', async () => {
    for (let round = 0; round < 6; round++) {
      const application = await world.createApplication();
      const licenses = await application.mint({ amount: 20 });
      const ban = (id: string) =>
        world.client.post(`/api/v1/licenses/${id}/ban`, { scope: 'hwid_and_ip', ip: '203.0.113.1' });
      const change = () => world.client.patch(`/api/v1/apps/${application.id}/settings`, { version: '2' });
      const list = () => world.client.get(`/api/v1/apps/${application.id}/licenses`);
      const [deleted, ...answers] = await Promise.all([
        world.client.delete(`/api/v1/apps/${application.id}`),
        ...licenses.flatMap((license) => [ban(license.id), change(), list()]),
      ]);
      expect(deleted.status, JSON.stringify(deleted.body)).toBe(200);
      for (const answer of answers) {
        if (answer.status !== 200) expect(answer.status, JSON.stringify(answer.body)).toBe(404);
      }
      expect(await prisma().license.count({ where: { applicationId: application.id } })).toBe(0);
      expect(await prisma().ban.count({ where: { applicationId: application.id } })).toBe(0);
    }
    expect(unexpected()).toEqual([]);
  });

  test('a ban during the deletion of its application does not deadlock', async () => {
    for (const scope of ['license', 'hwid_and_ip'] as const) {
      const application = await world.createApplication();
      const { id } = await application.mintOne();
      const held = await holdTable(scope === 'license' ? 'security_log' : 'bans');
      let banned: Promise<ApiAnswer>;
      let deleted: Promise<ApiAnswer>;
      try {
        banned = world.client.post(`/api/v1/licenses/${id}/ban`, { scope, ip: '203.0.113.1' });
        await held.until(1);
        deleted = world.client.delete(`/api/v1/apps/${application.id}`);
        await held.until(2);
      } finally {
        await held.release();
      }
      const [banAnswer, deleteAnswer] = await Promise.all([banned, deleted]);
      expect(banAnswer.status, JSON.stringify(banAnswer.body)).toBe(200);
      expect(deleteAnswer.status, JSON.stringify(deleteAnswer.body)).toBe(200);
      expect(await prisma().ban.count({ where: { applicationId: application.id } })).toBe(0);
    }
  });

  test('concurrent bans of one device and one address create one row of each', async () => {
    const application = await world.createApplication();
    const licenses = await application.mint({ amount: 12 });
    await prisma().license.updateMany({ where: { applicationId: application.id }, data: { hwid: 'shared' } });
    const answers = await Promise.all(
      licenses.flatMap((license) =>
        [1, 2].map(() =>
          world.client.post(`/api/v1/licenses/${license.id}/ban`, {
            scope: 'hwid_and_ip',
            ip: '203.0.113.1',
          }),
        ),
      ),
    );
    expect(statusesOf(answers)).toEqual({ 200: 24 });
    const rows = await prisma().ban.findMany({ where: { applicationId: application.id } });
    expect(rows.map(({ banType, value }) => `${banType} ${value}`).sort()).toEqual([
      'hwid shared',
      'ip 203.0.113.1',
    ]);
  });

  test('concurrent large mints are complete, and pages list them without a gap', async () => {
    const application = await world.createApplication();
    const answers = await times(6, () =>
      world.client.with({ ip: randomIp() }).post('/api/v1/licenses/create', {
        applicationId: application.id,
        amount: 150,
        durationSeconds: 0,
      }),
    );
    const minted = answers.flatMap((answer) => expectSuccess(answer, 201, mintedAnswer).keys);
    expect(new Set(minted.map((key) => key.licenseKey)).size).toBe(900);
    const listed: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = new URLSearchParams({ limit: '200', ...(cursor !== '' && { cursor }) }).toString();
      const answer: ApiAnswer = await world.client.get(`/api/v1/apps/${application.id}/licenses?${query}`);
      const page = expectSuccess(answer, 200, licensesAnswer);
      listed.push(...page.licenses.map((license) => license.id));
      cursor = page.nextCursor;
    }
    expect([...listed].sort()).toEqual(minted.map((key) => key.id).sort());
    expect(listed).toEqual([...listed].sort().reverse());
  });
});
