import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ApiClient } from '../setup/api-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { useWorld } from '../setup/use-world.ts';
import { createWorld, type World } from '../setup/world.ts';
import {
  applicationAnswer,
  applicationsAnswer,
  createdApplication,
  expectFailure,
  expectIssue,
  expectSuccess,
  messageKeys,
} from './support.ts';

const { server, world } = useWorld({ env: { PUBLIC_URL: 'http://licenses.example.com/base/' } });

const prisma = () => server.deps.services.database.prisma;
const get = async (id: string) =>
  expectSuccess(await world.client.get(`/api/v1/apps/${id}`), 200, applicationAnswer).application;
const settingsPath = (id: string) => `/api/v1/apps/${id}/settings`;

describe('creating an application', () => {
  test('returns the documented defaults, the complete message map and the SDK hint', async () => {
    const answer = await world.client.post('/api/v1/apps/create', { name: 'Photo Lab' });
    const created = expectSuccess(answer, 201, createdApplication);
    expect(created.application).toMatchObject({
      name: 'Photo Lab',
      version: '1.0.0',
      status: 'active',
      hwidLockEnabled: true,
      requireLicenseToRegister: true,
      registrationEnabled: true,
      protocol: 'any',
      leasesEnabled: false,
      leaseDays: 7,
    });
    expect(Object.keys(created.application.responseMessages).sort()).toEqual([...messageKeys].sort());
    expect(created.publicKeyB64).toBe(created.application.publicKeyB64);
    expect(Buffer.from(created.publicKeyB64, 'base64')).toHaveLength(32);
    expect(created.publicKeyB64).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    expect(created.sdkHint).toMatchObject({
      baseUrl: 'http://licenses.example.com/base',
      appId: created.application.id,
      version: '1.0.0',
      publicKeyB64: created.publicKeyB64,
    });
    expect(created.sdkHint.snippet).toContain(created.application.id);
    expect(await get(created.application.id)).toEqual(created.application);
  });

  test('accepts a version, and gives each application its own key', async () => {
    const answers = await Promise.all(
      ['2.0.0-beta+1', '2.0.0-beta+1'].map((version) =>
        world.client.post('/api/v1/apps/create', { name: 'Same', version }),
      ),
    );
    const [first, second] = answers.map((answer) => expectSuccess(answer, 201, createdApplication));
    expect(first?.application.version).toBe('2.0.0-beta+1');
    expect(first?.sdkHint.version).toBe('2.0.0-beta+1');
    expect(first?.application.id).not.toBe(second?.application.id);
    expect(first?.publicKeyB64).not.toBe(second?.publicKeyB64);
  });

  test('stores the private key encrypted, and logs the creation', async () => {
    const application = await world.createApplication({ name: 'Recorded' });
    const row = await prisma().application.findUniqueOrThrow({ where: { id: application.id } });
    expect(row.developerId).toBe(world.developer.id);
    expect(row.privateKeyEncrypted).toHaveLength(12 + 32 + 16);
    expect(await logOf(application.id)).toEqual([
      {
        event: 'application_created',
        developerId: world.developer.id,
        ip: world.client.ip,
        metadata: { name: 'Recorded' },
      },
    ]);
  });

  test.each([
    ['of 100 characters', 'n'.repeat(100), true],
    ['of 101 characters', 'n'.repeat(101), false],
    ['of white space alone', ' \t\u00a0', false],
    ['with white space around it, kept', '  Photo Lab ', true],
    ['in any script', '写真ラボ 📷 مختبر', true],
  ])('a name %s', async (_what, name, accepted) => {
    const answer = await world.client.post('/api/v1/apps/create', { name });
    if (!accepted) return expectIssue(answer, 'name');
    const created = expectSuccess(answer, 201, createdApplication);
    expect((await get(created.application.id)).name).toBe(name);
  });
});

test('the list has all applications of the developer and no others, newest first', async () => {
  const mine = await createWorld(server);
  expect(await list(mine)).toEqual([]);
  const ids: string[] = [];
  for (const name of ['one', 'two', 'three']) ids.unshift((await mine.createApplication({ name })).id);
  expect((await list(mine)).map((application) => application.id)).toEqual(ids);
  expect((await list(mine))[0]).toEqual(
    expectSuccess(await mine.client.get(`/api/v1/apps/${ids[0]}`), 200, applicationAnswer).application,
  );
});

describe('settings', () => {
  test.each([
    { version: '9.9' },
    { status: 'disabled' },
    { hwidLockEnabled: false },
    { requireLicenseToRegister: false },
    { registrationEnabled: false },
    { protocol: 'v2_only' },
    { leasesEnabled: true },
    { leaseDays: 30 },
  ])('%j changes only that setting', async (settings) => {
    const { id } = await world.createApplication();
    const before = await get(id);
    const answer = await world.client.patch(settingsPath(id), settings);
    const { application } = expectSuccess(answer, 200, applicationAnswer);
    expect(application).toEqual({ ...before, ...settings, updatedAt: application.updatedAt });
    expect(await get(id)).toEqual(application);
  });

  test('all of them can be changed together, and back', async () => {
    const { id } = await world.createApplication();
    const before = await get(id);
    const changed = {
      version: '2',
      status: 'disabled',
      hwidLockEnabled: false,
      requireLicenseToRegister: false,
      registrationEnabled: false,
      protocol: 'v2_only',
      leasesEnabled: true,
      leaseDays: 1,
    };
    expect((await world.client.patch(settingsPath(id), changed)).status).toBe(200);
    expect(await get(id)).toMatchObject(changed);
    const back = Object.fromEntries(Object.entries(before).filter(([name]) => Object.hasOwn(changed, name)));
    expect((await world.client.patch(settingsPath(id), back)).status).toBe(200);
    expect({ ...(await get(id)), updatedAt: '' }).toEqual({ ...before, updatedAt: '' });
  });

  test('messages are merged with the stored ones, and the response has the complete map', async () => {
    const { id } = await world.createApplication();
    const defaults = (await get(id)).responseMessages;
    const patch = async (responseMessages: Record<string, string>) =>
      expectSuccess(await world.client.patch(settingsPath(id), { responseMessages }), 200, applicationAnswer)
        .application.responseMessages;
    expect(await patch({ OK: 'Welcome!' })).toEqual({ ...defaults, OK: 'Welcome!' });
    expect(await patch({ EXPIRED: 'Renew.', BANNED: 'No.' })).toEqual({
      ...defaults,
      OK: 'Welcome!',
      EXPIRED: 'Renew.',
      BANNED: 'No.',
    });
    expect(await patch({ OK: 'Hello again' })).toEqual({
      ...defaults,
      OK: 'Hello again',
      EXPIRED: 'Renew.',
      BANNED: 'No.',
    });
    const { responseMessages } = await prisma().application.findUniqueOrThrow({ where: { id } });
    expect(responseMessages, 'defaults are not frozen into the row').toEqual({
      OK: 'Hello again',
      EXPIRED: 'Renew.',
      BANNED: 'No.',
    });
  });

  test('each of the fifteen keys can be edited, and no other', async () => {
    const { id } = await world.createApplication();
    const all = Object.fromEntries(messageKeys.map((key) => [key, `Text of ${key}`]));
    expect((await world.client.patch(settingsPath(id), { responseMessages: all })).status).toBe(200);
    expect((await get(id)).responseMessages).toEqual(all);
    for (const key of ['APP_MISMATCH', 'ok', '', 'OK ', 'constructor', 'toString']) {
      const answer = await world.client.patch(settingsPath(id), { responseMessages: { [key]: 'text' } });
      expectIssue(answer, 'responseMessages');
    }
    expect((await get(id)).responseMessages).toEqual(all);
  });

  test('a change with one invalid setting changes nothing', async () => {
    const { id } = await world.createApplication();
    const before = await get(id);
    const answer = await world.client.patch(settingsPath(id), {
      version: '2.0.0',
      responseMessages: { OK: 'Hi', NO_SUCH_KEY: 'x' },
    });
    expectIssue(answer, 'responseMessages');
    expect(await get(id)).toEqual(before);
  });

  test.each([{}, { name: 'other' }, { unknown: 1 }])(
    '%j without a known setting is refused',
    async (settings) => {
      const { id } = await world.createApplication();
      const before = await get(id);
      expectFailure(await world.client.patch(settingsPath(id), settings), 400, 'VALIDATION_FAILED');
      expect(await get(id)).toEqual(before);
    },
  );

  test('are logged with the changes', async () => {
    const { id } = await world.createApplication();
    const client = world.client;
    await client.patch(settingsPath(id), { status: 'disabled', responseMessages: { OK: 'Hi' } });
    expect((await logOf(id)).at(-1)).toEqual({
      event: 'application_settings_changed',
      developerId: world.developer.id,
      ip: client.ip,
      metadata: { status: 'disabled', responseMessages: ['OK'] },
    });
  });

  test('take effect for clients at once', async () => {
    const application = await world.createApplication();
    const { licenseKey } = await application.mintOne();
    const session = await openSession(server, application);
    expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'OK' });
    await application.settings({ responseMessages: { OK: 'Served fresh' } });
    expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ message: 'Served fresh' });
    await application.settings({ status: 'disabled', responseMessages: { APP_DISABLED: 'Closed' } });
    expect(await session.ask(validatePath, { licenseKey })).toMatchObject({
      code: 'APP_DISABLED',
      message: 'Closed',
    });
  });
});

describe('deleting an application', () => {
  test('deletes its licenses, end users, sessions, bans and log, and nothing of other applications', async () => {
    const doomed = await world.createApplication({ name: 'Doomed' });
    const kept = await world.createApplication({ name: 'Kept' });
    for (const application of [doomed, kept]) {
      const license = await application.mintOne();
      await prisma().endUser.create({
        data: {
          id: randomUUID(),
          applicationId: application.id,
          username: 'customer',
          passwordHash: '$argon2id$nobody',
          licenseId: license.id,
          sessions: {
            create: {
              id: randomUUID(),
              tokenHash: new Uint8Array(Buffer.from(application.id.replaceAll('-', '').repeat(2), 'hex')),
              expiresAt: new Date(Date.now() + 60_000),
            },
          },
        },
      });
      const ban = { scope: 'hwid_and_ip', ip: '203.0.113.9' };
      expect((await world.client.post(`/api/v1/licenses/${license.id}/ban`, ban)).status).toBe(200);
    }
    const one = { application: 1, licenses: 1, endUsers: 1, sessions: 1, bans: 1, log: 3 };
    expect(await countsOf(doomed.id)).toEqual(one);

    const answer = await world.client.delete(`/api/v1/apps/${doomed.id}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true });
    expect(await countsOf(doomed.id)).toEqual({
      application: 0,
      licenses: 0,
      endUsers: 0,
      sessions: 0,
      bans: 0,
      log: 0,
    });
    expect(await countsOf(kept.id)).toEqual(one);
    expect((await list(world)).map((application) => application.id)).not.toContain(doomed.id);
    const entry = await prisma().securityLogEntry.findFirstOrThrow({
      where: { developerId: world.developer.id, event: 'application_deleted' },
      orderBy: { id: 'desc' },
    });
    expect(entry).toMatchObject({
      applicationId: null,
      ip: world.client.ip,
      metadata: { applicationId: doomed.id, name: 'Doomed' },
    });
  });

  test('a second time is not found', async () => {
    const { id } = await world.createApplication();
    expect((await world.client.delete(`/api/v1/apps/${id}`)).status).toBe(200);
    expectFailure(await world.client.delete(`/api/v1/apps/${id}`), 404, 'APP_NOT_FOUND');
    expectFailure(await world.client.get(`/api/v1/apps/${id}`), 404, 'APP_NOT_FOUND');
  });

  test('refuses its clients at once', async () => {
    const application = await world.createApplication();
    const { licenseKey } = await application.mintOne();
    const session = await openSession(server, application);
    expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'OK' });
    expect((await world.client.delete(`/api/v1/apps/${application.id}`)).status).toBe(200);
    const body = session.seal(session.inner({ licenseKey }));
    expect((await session.client.post(validatePath, body)).body).toMatchObject({ success: false });
  });
});

test('another developer’s application gets the same response as a missing one', async () => {
  const { id } = await world.createApplication();
  const before = await get(id);
  const stranger = await createWorld(server);
  const requests: ((id: string) => ReturnType<ApiClient['get']>)[] = [
    (target) => stranger.client.get(`/api/v1/apps/${target}`),
    (target) => stranger.client.delete(`/api/v1/apps/${target}`),
    (target) => stranger.client.patch(settingsPath(target), { version: '6.6.6' }),
    (target) => stranger.client.get(`/api/v1/apps/${target}/licenses`),
    (target) =>
      stranger.client.post('/api/v1/licenses/create', {
        applicationId: target,
        amount: 1,
        durationSeconds: 0,
      }),
  ];
  for (const request of requests) {
    const foreign = await request(id);
    const missing = await request('0198c3a0-0000-7000-8000-000000000000');
    expectFailure(foreign, 404, 'APP_NOT_FOUND');
    expect(missing.status).toBe(404);
    expect(foreign.body).toEqual(missing.body);
    expect([...foreign.headers.keys()]).toEqual([...missing.headers.keys()]);
  }
  expect(await get(id)).toEqual(before);
  expect((await list(stranger)).map((application) => application.id)).not.toContain(id);
  expect((await countsOf(id)).licenses).toBe(0);
});

async function list(owner: World) {
  return expectSuccess(await owner.client.get('/api/v1/apps/'), 200, applicationsAnswer).applications;
}

async function logOf(applicationId: string) {
  const rows = await prisma().securityLogEntry.findMany({ where: { applicationId }, orderBy: { id: 'asc' } });
  return rows.map(({ event, developerId, ip, metadata }) => ({ event, developerId, ip, metadata }));
}

async function countsOf(applicationId: string) {
  const where = { applicationId };
  return {
    application: await prisma().application.count({ where: { id: applicationId } }),
    licenses: await prisma().license.count({ where }),
    endUsers: await prisma().endUser.count({ where }),
    sessions: await prisma().endUserSession.count({
      where: { tokenHash: new Uint8Array(Buffer.from(applicationId.replaceAll('-', '').repeat(2), 'hex')) },
    }),
    bans: await prisma().ban.count({ where }),
    log: await prisma().securityLogEntry.count({ where }),
  };
}

test('the list of applications works with and without a trailing slash', async () => {
  const world = await createWorld(server);
  const application = await world.createApplication();
  for (const path of ['/api/v1/apps', '/api/v1/apps/']) {
    const answer = await world.client.get(path);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ success: true, applications: [{ id: application.id }] });
  }
});
