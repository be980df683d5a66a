/** @module-tag slow */
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { timeOfId } from '../../src/lib/ids.ts';
import { maintain } from '../../src/services/maintenance.ts';
import { logsAnswer, metricsAnswer, noLimits } from '../api/support.ts';
import { createApiKey } from '../graphql/support.ts';
import { ApiClient } from '../setup/api-client.ts';
import { noteClock } from '../setup/clock-notes.ts';
import { databaseKinds } from '../setup/database.ts';
import { ask } from '../setup/end-users.ts';
import { type EventStream, openEventStream } from '../setup/event-stream.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { tally } from '../setup/tally.ts';
import { createWorld } from '../setup/world.ts';

/** The table of docs/clocks.md: what holds while the clock is wrong and after its correction. */

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const steps: readonly (readonly [name: string, seconds: number])[] = [
  ['10 minutes ahead', 10 * minute],
  ['10 minutes back', -10 * minute],
  ['3 hours ahead', 3 * hour],
  ['3 hours back', -3 * hour],
  ['120 days ahead', 120 * day],
  ['120 days back', -120 * day],
  ['a year ahead', 365 * day],
  ['a year back', -365 * day],
];

const follow = `subscription ($applicationId: ID!, $after: ID) {
  securityLog(applicationId: $applicationId, after: $after) { id event }
}`;
const entry = z.object({ id: z.string(), event: z.string() });

describe.each(databaseKinds)('on %s, a clock set', (kind) => {
  let server: TestServer;
  let offset = 0;
  beforeAll(async () => {
    // The clock of the whole process, because ids use it too. The test's own clock follows it.
    const now = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => now() + offset * 1_000);
    server = await startTestServer({
      database: kind,
      env: { ...noLimits, COUNT_LIMITS: `${noLimits.COUNT_LIMITS},sessions=2` },
    });
  }, 120_000);
  afterAll(async () => {
    await server?.close();
    vi.restoreAllMocks();
  });

  test.each(steps)(
    '%s, then corrected',
    async (_name, step) => {
      offset = 0;
      onTestFinished(() => {
        offset = 0;
      });
      const { database, log, clock, securityLog } = server.deps.services;
      const { client, createApplication } = await createWorld(server);
      const application = await createApplication();
      await application.settings({ requireLicenseToRegister: false });
      const { licenseKey } = await application.mintOne({ durationSeconds: hour });
      const other = await application.mintOne();
      const keyed = new ApiClient(server.baseUrl, { bearer: (await createApiKey(client)).apiKey });
      const account = { username: 'grace', password: 'a user password' };
      expect(await ask(server, application, 'register', account)).toMatchObject({ code: 'OK' });

      const seal = (session: SealedSession, key: string) => session.seal(session.inner({ licenseKey: key }));
      const isRefused = async (session: SealedSession, envelope: object) =>
        expect((await session.client.post(validatePath, envelope)).status).not.toBe(200);
      const validate = async (key = other.licenseKey) =>
        (await openSession(server, application)).ask(validatePath, { licenseKey: key });
      const open = async (after?: string): Promise<EventStream> => {
        const variables = { applicationId: application.id, ...(after && { after }) };
        const stream = await openEventStream(keyed, { query: follow, variables });
        onTestFinished(() => stream.close());
        return stream;
      };
      /** The next validation on a stream, which may have delivered earlier ones before. */
      const nextValidation = async (stream: EventStream): Promise<string> => {
        for (;;) {
          const [next] = await stream.take(1);
          const { id, event } = entry.parse(next);
          if (event === 'license_validated') return id;
        }
      };
      const stored = async () => {
        await securityLog.flush();
        const [row] = await sql<{ entries: number; sessions: number }>(
          server,
          `SELECT (SELECT count(*)::int FROM security_log WHERE application_id = $1) AS entries,
           (SELECT count(*)::int FROM end_user_sessions JOIN end_users ON end_users.id = end_user_id
            WHERE application_id = $1) AS sessions`,
          [application.id],
        );
        return row;
      };
      /** Maintenance must not delete anything that must be kept. */
      const expectKept = async () => {
        const before = await stored();
        await maintain({ database, clock, log, retentionDays: 90 });
        expect(await stored()).toEqual(before);
      };
      const expectIdOfNow = (id: string) =>
        expect(Math.abs(timeOfId(id) - clock.now())).toBeLessThan(2 * minute * 1_000);
      const listed = async (query = '') => {
        await securityLog.flush();
        const answer = await keyed.get(`/api/v1/apps/${application.id}/logs?limit=200${query}`);
        return logsAnswer.parse(answer.body).logs.map(({ id }) => id);
      };
      const validations = async () => {
        await securityLog.flush();
        const answer = await keyed.get('/api/v1/metrics/overview');
        return metricsAnswer.parse(answer.body).metrics.validations24h.total;
      };

      // The clock is correct.
      const recorded = await openSession(server, application);
      const envelope = seal(recorded, licenseKey);
      const before = recorded.open(await recorded.client.post(validatePath, envelope));
      expect(before.code).toBe('OK');
      await noteClock(database.pool, Date.now() - day * 1_000);
      const stream = await open();
      await validate();
      expectIdOfNow(await nextValidation(stream));
      const counted = await validations();

      // The clock is wrong: results follow it, but nothing that expired by it is deleted.
      offset = step;
      expect(await validate(licenseKey)).toMatchObject({ code: step > hour ? 'EXPIRED' : 'OK' });
      expectIdOfNow(await nextValidation(stream));
      await isRefused(recorded, envelope);
      const lying = await openSession(server, application);
      const lie = seal(lying, other.licenseKey);
      expect(lying.open(await lying.client.post(validatePath, lie)).code).toBe('OK');
      await isRefused(lying, lie);
      const cursor = await nextValidation(stream);
      expectIdOfNow(cursor);
      expect(await ask(server, application, 'login', account)).toMatchObject({ code: 'OK' });
      await expectKept();

      // The clock is correct again.
      offset = 0;
      const after = await validate(licenseKey);
      expect(after).toMatchObject({ code: 'OK', expiresAt: before.expiresAt });
      const id = await nextValidation(stream);
      expectIdOfNow(id);
      await isRefused(recorded, envelope);
      await isRefused(lying, lie);
      await validate();
      expectIdOfNow(await nextValidation(stream));
      const resumed = await open(cursor);
      await validate();
      const found = await nextValidation(resumed);
      if (step > 0) expectIdOfNow(found);
      const logs = await listed();
      expect(logs).toEqual(logs.toSorted().toReversed());
      expect(new Set(logs).size).toBe((await stored())?.entries);
      expect(logs).toContain(id);
      expect(await validations(), 'what was asked now, and nothing from the future').toBeGreaterThanOrEqual(
        counted + 3,
      );
      expect(await validations()).toBeLessThanOrEqual(counted + (Math.abs(step) < day && step < 0 ? 5 : 3));
      await expectKept();
      tally({ faults: 2 });
    },
    120_000,
  );

  test('a year ahead leaves nothing behind that displaces later data', async () => {
    offset = 0;
    onTestFinished(() => {
      offset = 0;
    });
    const { client, createApplication } = await createWorld(server);
    const application = await createApplication();
    await application.settings({ requireLicenseToRegister: false });
    const { id, apiKey } = await createApiKey(client);
    const keyed = new ApiClient(server.baseUrl, { bearer: apiKey });
    const lastUsed = async () => {
      expect((await keyed.get('/api/v1/auth/me')).status).toBe(200);
      await server.deps.services.apiKeyUse.flush();
      const rows = await sql<{ at: Date }>(server, 'SELECT last_used_at AS at FROM api_keys WHERE id = $1', [
        id,
      ]);
      return Math.abs((rows[0]?.at.getTime() ?? 0) - Date.now());
    };
    const account = { username: 'grace', password: 'a user password' };
    const login = () => ask(server, application, 'login', account);
    offset = 365 * day;
    expect(await ask(server, application, 'register', account)).toMatchObject({ code: 'OK' });
    expect(await login()).toMatchObject({ code: 'OK' });
    expect(await lastUsed()).toBeLessThan(minute * 1_000);
    offset = 0;
    expect(await lastUsed(), 'the last use of an API key').toBeLessThan(minute * 1_000);
    for (let count = 0; count < 3; count += 1) expect(await login()).toMatchObject({ code: 'OK' });
    const sessions = await sql<{ isNow: boolean }>(
      server,
      `SELECT end_user_sessions.created_at < now() + interval '1 minute' AS "isNow" FROM end_user_sessions
       JOIN end_users ON end_users.id = end_user_id WHERE application_id = $1`,
      [application.id],
    );
    expect(sessions, 'the sessions that go on').toEqual([{ isNow: true }, { isNow: true }]);
  }, 60_000);
});
