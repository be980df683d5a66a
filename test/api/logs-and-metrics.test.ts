import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ApiAnswer, ApiClient } from '../setup/api-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld, type SeededApplication, type World } from '../setup/world.ts';
import {
  expectFailure,
  expectIssue,
  expectSuccess,
  logsAnswer,
  metricsAnswer,
  missingId,
  noLimits,
} from './support.ts';

let server: TestServer;
let world: World;
let application: SeededApplication;
beforeAll(async () => {
  server = await startTestServer({ env: { ...noLimits, COUNTRY_HEADER: 'CF-IPCountry' } });
});
afterAll(() => server.close());
beforeEach(async () => {
  world = await createWorld(server);
  application = await world.createApplication();
});

const logs = async (query: Record<string, string> = {}) => {
  await server.deps.services.securityLog.flush();
  const search = new URLSearchParams(query).toString();
  return expectSuccess(
    await world.client.get(`/api/v1/apps/${application.id}/logs?${search}`),
    200,
    logsAnswer,
  );
};
const metrics = async () => {
  await server.deps.services.securityLog.flush();
  return expectSuccess(await world.client.get('/api/v1/metrics/overview'), 200, metricsAnswer).metrics;
};
const validate = async (members: Record<string, unknown>, client = new ApiClient(server.baseUrl)) =>
  (await openSession(server, application, { client })).ask(validatePath, members);

describe('the log', () => {
  test('has administrative changes and client results, newest first, with their origin', async () => {
    const license = await application.mintOne();
    const client = new ApiClient(server.baseUrl, { headers: { 'CF-IPCountry': 'DE' } });
    await validate({ licenseKey: license.licenseKey, hwid: 'device' }, client);
    await validate({ licenseKey: 'AAAAA' }, client);
    const { logs: entries, nextCursor } = await logs();
    expect(nextCursor).toBeNull();
    expect(entries).toMatchObject([
      {
        event: 'license_validated',
        code: 'LICENSE_NOT_FOUND',
        licenseId: null,
        applicationId: application.id,
        ip: client.ip,
        country: 'DE',
        hwid: null,
      },
      { event: 'license_validated', code: 'OK', licenseId: license.id, ip: client.ip, hwid: 'device' },
      { event: 'licenses_created', code: null, country: null, metadata: { amount: 1 } },
      { event: 'application_created', code: null, ip: world.client.ip },
    ]);
    expect(JSON.stringify(entries)).not.toContain(license.licenseKey);
  });

  test.each(['de', 'Germany', '', 'D', '1A', 'DEU', 'D\u00c4', 'DE, FR'])(
    'has no country if the header is %j',
    async (country) => {
      const headers = { 'CF-IPCountry': Buffer.from(country).toString('latin1') };
      await validate({ licenseKey: 'AAAAA' }, new ApiClient(server.baseUrl, { headers }));
      expect((await logs({ limit: '1' })).logs).toMatchObject([{ country: null }]);
    },
  );

  test('has the country of a dashboard request too', async () => {
    const client = world.client.with({ headers: { 'CF-IPCountry': 'FR' } });
    const answer = await client.patch(`/api/v1/apps/${application.id}/settings`, { version: '2' });
    expect(answer.status).toBe(200);
    expect((await logs({ limit: '1' })).logs).toMatchObject([
      { event: 'application_settings_changed', country: 'FR' },
    ]);
  });

  test('ignores the header if it is not configured', async () => {
    const plain = await startTestServer();
    try {
      const { client, createApplication } = await createWorld(plain);
      const { id } = await createApplication();
      const spoofed = client.with({ headers: { 'CF-IPCountry': 'DE' } });
      await spoofed.patch(`/api/v1/apps/${id}/settings`, { version: '2' });
      const answer = expectSuccess(await client.get(`/api/v1/apps/${id}/logs`), 200, logsAnswer);
      expect(answer.logs[0]).toMatchObject({ event: 'application_settings_changed', country: null });
    } finally {
      await plain.close();
    }
  });

  test('is paged without a gap while entries are added', async () => {
    for (let version = 0; version < 6; version++) await application.settings({ version: `v${version}` });
    const seen: unknown[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof logs>> = await logs({
        limit: '3',
        ...(cursor !== null && { cursor }),
      });
      seen.push(...page.logs.map(({ metadata }) => metadata.version));
      cursor = page.nextCursor;
      if (seen.length === 3) await application.settings({ version: 'later' });
    } while (cursor !== null);
    expect(seen).toEqual(['v5', 'v4', 'v3', 'v2', 'v1', 'v0', undefined]);
  });

  test.each<[string, number]>([
    ['VALIDATED', 2],
    ['not_found', 1],
    ['evice%', 1],
    ['evice_', 0],
    ['%', 1],
    ['ch', 1],
    ['203.0.113.77', 2],
    ['nothing of the kind', 0],
  ])('searched for %j has %i', async (q, amount) => {
    const headers = { 'CF-IPCountry': 'CH' };
    const client = new ApiClient(server.baseUrl, { ip: '203.0.113.77' });
    const license = await application.mintOne();
    await validate({ licenseKey: license.licenseKey, hwid: 'device%1' }, client);
    await validate({ licenseKey: 'AAAAA' }, client.with({ headers }));
    expect((await logs({ q })).logs).toHaveLength(amount);
  });

  test.each([
    ['limit', '0'],
    ['limit', '201'],
    ['cursor', 'x'],
    ['q', 'x'.repeat(201)],
  ])('refuses %s=%j', async (name, value) => {
    const search = new URLSearchParams({ [name]: value }).toString();
    expectIssue(await world.client.get(`/api/v1/apps/${application.id}/logs?${search}`), name);
  });

  test('has only entries of this application', async () => {
    const first = application;
    application = await world.createApplication();
    expect((await logs()).logs.map(({ applicationId }) => applicationId)).not.toContain(first.id);
  });

  test('of another developer gets the same response as a missing one', async () => {
    const stranger = await createWorld(server);
    const ask = (id: string): Promise<ApiAnswer> => stranger.client.get(`/api/v1/apps/${id}/logs`);
    const foreign = await ask(application.id);
    expectFailure(foreign, 404, 'APP_NOT_FOUND');
    expect(foreign.body).toEqual((await ask(missingId)).body);
  });
});

describe('the metrics overview', () => {
  test('is all zero for a new account', async () => {
    world = await createWorld(server);
    expect(await metrics()).toEqual({
      applications: { total: 0, active: 0, disabled: 0 },
      licenses: { total: 0, unused: 0, active: 0, suspended: 0, expired: 0, banned: 0 },
      validations24h: { total: 0, byCode: {} },
    });
  });

  test('counts applications and licenses of this developer by status, with expired ones separately', async () => {
    const second = await world.createApplication();
    await second.mint({ amount: 2 });
    await (await world.createApplication()).settings({ status: 'disabled' });
    const [first, expiring, banned, bannedEnded] = await application.mint({
      amount: 4,
      durationSeconds: 600,
    });
    const short = await application.mintOne({ durationSeconds: 10 });
    const endless = await application.mintOne();
    for (const license of [first, expiring, banned, short, endless]) {
      expect(await validate({ licenseKey: license?.licenseKey })).toMatchObject({ code: 'OK' });
    }
    for (const license of [banned, bannedEnded]) {
      await world.client.post(`/api/v1/licenses/${license?.id}/ban`);
    }
    const other = await createWorld(server);
    await (await other.createApplication()).mint({ amount: 5 });

    const applications = { total: 3, active: 2, disabled: 1 };
    expect(await metrics()).toMatchObject({
      applications,
      licenses: { total: 8, unused: 2, active: 4, expired: 0, banned: 2 },
    });
    server.clock.step(11);
    expect((await metrics()).licenses).toEqual({
      total: 8,
      unused: 2,
      active: 3,
      suspended: 0,
      expired: 1,
      banned: 2,
    });
    server.clock.step(600);
    expect(await metrics()).toMatchObject({
      applications,
      licenses: { total: 8, unused: 2, active: 1, expired: 3, banned: 2 },
    });
  });
});

describe('the validations of the last 24 hours', () => {
  let ticking: TestServer;
  beforeAll(async () => {
    ticking = await startTestServer({ env: noLimits });
  });
  afterAll(() => ticking.close());

  test('are counted by result over all applications for one day', async () => {
    const own = await createWorld(ticking);
    const apps = [await own.createApplication(), await own.createApplication()] as const;
    const stranger = await createWorld(ticking);
    const foreign = await stranger.createApplication();
    const ask = async (app: SeededApplication, licenseKey: string) =>
      (await openSession(ticking, app)).ask(validatePath, { licenseKey });
    const read = async (reader: World) => {
      await ticking.deps.services.securityLog.flush();
      const answer = await reader.client.get('/api/v1/metrics/overview');
      return expectSuccess(answer, 200, metricsAnswer).metrics.validations24h;
    };
    for (const app of apps) {
      const license = await app.mintOne();
      for (let time = 0; time < 3; time++) await ask(app, license.licenseKey);
      await ask(foreign, license.licenseKey);
    }
    await ask(apps[0], 'AAAAA');
    await own.client.patch(`/api/v1/apps/${apps[1].id}/settings`, { version: '2' });
    const counted = { total: 7, byCode: { OK: 6, LICENSE_NOT_FOUND: 1 } };
    expect(await read(own)).toEqual(counted);
    expect(await read(stranger)).toEqual({ total: 2, byCode: { APP_MISMATCH: 2 } });
    ticking.clock.step(23 * 3600 + 50 * 60);
    expect(await read(own)).toEqual(counted);
    ticking.clock.step(11 * 60);
    expect(await read(own)).toEqual({ total: 0, byCode: {} });
  });
});
